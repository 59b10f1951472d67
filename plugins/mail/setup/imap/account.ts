/**
 * The target of `webhooks imap setup`: the settings of the account, from its options, the existing settings, the
 * provider and questions.
 */
import { resolve } from "node:path";
import type { CliCall, Json } from "service-gateway/sdk";
import type { ImapSettings } from "../../settings.ts";
import { isSet, listOf, numberOf, sinceOf, textOf, textOrAsk, UsageError } from "../options.ts";
import { type Provider, providerOf } from "./providers.ts";

export interface WantedAccount {
  readonly account: string;
  readonly settings: Pick<ImapSettings, "host" | "port" | "tls" | "user" | "folders">;
  readonly existing?: Existing;
  readonly provider?: Provider;
  readonly pollSeconds?: number;
  /** How far back reading begins, in milliseconds. */
  readonly sinceMs?: number;
}

export interface Password {
  /** The reference as written in the configuration. */
  readonly reference: Json;
  /** Typed at the prompt; it will be written to the file of the reference. */
  readonly typed?: string;
}

type Existing = Partial<ImapSettings>;

const maxFolders = 5;

export const passwordFile = (account: string): string => `imap-${account}`;

export async function wantedAccount(
  call: CliCall,
  {
    account,
    existing,
    user: asked,
  }: { readonly account: string; readonly existing: Existing | undefined; readonly user: string | undefined },
): Promise<WantedAccount> {
  const user =
    asked ?? existing?.user ?? (await textOrAsk(call, "user", { question: "User name, mostly the mail address" }));
  const given = textOf(call, "host") ?? existing?.host;
  const provider = providerOf(user, given);
  const host =
    given ??
    provider?.host ??
    (await textOrAsk(call, "host", { question: "Name of the IMAP server", missing: noHost(user) }));
  const tls = tlsOf(call, existing?.tls) ?? provider?.tls ?? true;
  const port =
    numberOf(call, "port", { from: 1, to: 65_535 }) ??
    existing?.port ??
    (provider?.host === host ? provider.port : undefined) ??
    993;
  const folders = listOf(call, "folder") ?? existing?.folders ?? ["INBOX"];
  if (folders.length > maxFolders) throw new UsageError(`--folder may be given at most ${maxFolders} times.`);
  const pollSeconds = numberOf(call, "poll-seconds", { from: 5, to: 86_400 });
  const sinceMs = sinceOf(call);
  return {
    account,
    settings: { host, port, tls, user, folders },
    existing,
    provider,
    pollSeconds,
    sinceMs,
  };
}

/** The settings that the configuration lacks or that differ, by key. */
export function changesTo(
  { existing = defaults, settings, pollSeconds }: WantedAccount,
  password: Password | undefined,
): { readonly [key: string]: Json } {
  const { host, port, tls, user, folders } = settings;
  const wanted: { readonly [key: string]: Json | undefined } = {
    host,
    port,
    tls: tls as Json,
    user,
    password: password?.reference,
    folders,
    pollSeconds,
  };
  const now = existing as { readonly [key: string]: Json | undefined };
  const changed = Object.entries(wanted).flatMap(([key, value]): [string, Json][] =>
    value === undefined || isSame(value, now[key]) ? [] : [[key, value]],
  );
  return Object.fromEntries(changed);
}

/** Defaults of the schema need not be written. */
const defaults: Existing = { port: 993, tls: true, folders: ["INBOX"] };

const isSame = (one: Json, other: Json | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

const noHost = (user: string) =>
  `--host is missing: the mail server of ${user} is not known here. Your provider names it in its help on IMAP.`;

/** A certificate configured for the same kind of encryption is kept. */
function tlsOf(call: CliCall, existing: ImapSettings["tls"] | undefined): ImapSettings["tls"] | undefined {
  const text = textOf(call, "tls");
  if (text === undefined) return existing;
  const isSame = typeof existing === "object" && (existing.mode ?? "tls") === (text === "true" ? "tls" : text);
  return isSame ? existing : text === "starttls" ? text : text === "true";
}

/** `undefined` if the mailbox logs in by OAuth. */
export async function passwordOf(
  call: CliCall,
  { account, existing, provider }: WantedAccount,
): Promise<Password | undefined> {
  const [variable, file] = [textOf(call, "password-env"), textOf(call, "password-file")];
  if (variable !== undefined && file !== undefined)
    throw new UsageError("Give --password-env or --password-file, not both.");
  if (variable !== undefined) return { reference: { env: variable } };
  if (file !== undefined) return { reference: { file: resolve(file) } };
  const isNew = isSet(call, "new-password");
  if (existing?.password !== undefined && !isNew) return { reference: existing.password };
  if (existing?.oauth !== undefined && !isNew) return undefined;
  if (call.terminal === undefined) {
    const wish = provider === undefined ? "" : ` ${provider.wants}`;
    throw new UsageError(
      `--password-env or --password-file is missing: without a terminal no password can be typed.${wish}`,
    );
  }
  const typed = await call.terminal.password("Password of the mailbox (it is not shown)");
  if (typed === "") throw new UsageError("The password is empty.");
  return { reference: { file: await call.secretFiles.path(passwordFile(account)) }, typed };
}
