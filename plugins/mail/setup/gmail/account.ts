/** The target of `webhooks gmail setup`: the settings of the mailbox, from its options and the existing settings. */
import { resolve } from "node:path";
import type { CliCall, Json } from "service-gateway/sdk";
import { type GmailSettings, gmailMailboxesIn } from "../../settings.ts";
import { SourceError } from "../../source.ts";
import { sinceOf, textOf, textOrAsk, UsageError } from "../options.ts";

export type GmailSection = { readonly [key: string]: Json };

export interface MailboxPlace {
  /** Mail address of the mailbox, as written in the configuration. */
  readonly address: string;
  /** The name of the mailbox in the gateway. */
  readonly name: string;
  /** Below `hooks.gmail`: empty for the section itself, or `accounts` and a name. */
  readonly path: readonly string[];
  /** The same path with dots, as used by the rest of the plugin. */
  readonly at: string;
  readonly existing?: GmailSection;
  /** The API roots of the section, which apply to its accounts. */
  readonly roots: GmailSection;
}

/** The section itself if it is about this mailbox, otherwise one of its accounts. */
export async function placeOf(call: CliCall): Promise<MailboxPlace> {
  const given = await textOrAsk(call, "account", { question: "Mail address of the mailbox" });
  if (!/^[^\s@"\\[\]]+@[^\s@"\\[\]]+$/.test(given))
    throw new UsageError(`--account is the mail address of the mailbox, not "${given}".`);
  const section = ((await call.preset("gmail").settings()) ?? {}) as GmailSection;
  const isIt = (value: Json | undefined): value is string =>
    typeof value === "string" && value.toLowerCase() === given.toLowerCase();
  const { apiRoot, pubsubRoot } = section;
  const roots: GmailSection = {
    ...(apiRoot !== undefined && { apiRoot }),
    ...(pubsubRoot !== undefined && { pubsubRoot }),
  };
  if (isIt(section.account))
    return { address: section.account, name: section.account, path: [], at: "", existing: section, roots };
  const accounts = (section.accounts ?? {}) as Readonly<Record<string, GmailSection>>;
  const [name, existing] = Object.entries(accounts).find(([id, one]) => isIt(one.account) || isIt(id)) ?? [given];
  const address = isIt(existing?.account) ? existing.account : given;
  return { address, name, path: ["accounts", name], at: `accounts.${name}.`, roots, existing };
}

export interface WantedGmail extends MailboxPlace {
  /** Whether the mailbox was set up before. */
  readonly existed: boolean;
  /** The settings that the configuration should contain. */
  readonly wanted: { readonly [key: string]: Json };
  readonly mode: GmailSettings["mode"];
  /** The URL to which Google posts notifications; only in mode `push`. */
  readonly pushEndpoint?: string;
  /** How far back reading begins, in milliseconds. */
  readonly sinceMs?: number;
}

export function wantedGmail(call: CliCall, place: MailboxPlace): WantedGmail {
  const { address, existing = {} } = place;
  const file = (name: string, key: string): Json | undefined => {
    const given = textOf(call, name);
    return given === undefined ? existing[key] : { file: resolve(given) };
  };
  const serviceAccount = file("service-account", "serviceAccount");
  const credentials = serviceAccount === undefined ? file("credentials", "credentials") : existing.credentials;
  if (credentials === undefined && serviceAccount === undefined)
    throw new UsageError(
      "--credentials is missing: the JSON of an OAuth client of the type Desktop app, from " +
        "https://console.cloud.google.com/apis/credentials.",
    );
  const mode = (textOf(call, "mode") ?? existing.mode ?? "poll") as GmailSettings["mode"];
  const label = textOf(call, "label") ?? existing.label ?? "INBOX";
  const push = mode === "push" ? pushOf(call, existing) : undefined;
  const wanted: { [key: string]: Json | undefined } = { account: address, credentials, serviceAccount, mode, label };
  for (const key of ["project", "topic", "subscription"]) wanted[key] = textOf(call, key) ?? existing[key];
  if (push !== undefined) wanted.push = { audience: push.endpoint, serviceAccount: push.email };
  const given = Object.entries(wanted).filter((one): one is [string, Json] => one[1] !== undefined);
  const existed = existing.account !== undefined && (existing.credentials ?? existing.serviceAccount) !== undefined;
  const sinceMs = sinceOf(call);
  return {
    ...place,
    existed,
    wanted: Object.fromEntries(given),
    mode,
    ...(push === undefined ? {} : { pushEndpoint: push.endpoint }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
}

function pushOf(call: CliCall, existing: GmailSection): { readonly endpoint: string; readonly email: string } {
  const now = (existing.push ?? {}) as { readonly audience?: string; readonly serviceAccount?: string };
  const endpoint = textOf(call, "push-endpoint") ?? now.audience;
  const email = textOf(call, "push-service-account") ?? now.serviceAccount;
  if (endpoint === undefined || !/^https:\/\/[^/\s]/.test(endpoint))
    throw new UsageError(
      "--push-endpoint is missing: the public address of the gateway with https, and /plugins/mail/gmail/ " +
        "with the name of the account.",
    );
  if (email === undefined)
    throw new UsageError(
      "--push-service-account is missing: the mail address of the service account that Google posts as.",
    );
  return { endpoint, email };
}

/** The settings as the watcher would see them. */
export async function settingsOf(
  call: CliCall,
  { path, existing = {}, roots }: MailboxPlace,
  wanted: GmailSection,
): Promise<GmailSettings> {
  const defaults = {
    enabled: true,
    maxBytes: 20_000,
    maxCatchUp: 50,
    maxPerHour: 60,
    requireAuth: false,
    includeOwn: false,
  };
  const one = { ...defaults, ...existing, ...wanted, enabled: true };
  const [settings] = [
    ...gmailMailboxesIn((path.length === 0 ? one : { ...roots, accounts: { [path[1] ?? ""]: one } }) as Json).values(),
  ].slice(-1);
  if (settings === undefined)
    throw new SourceError(
      "setup",
      "The mailbox has no credentials.",
      `\`${call.program} webhooks gmail setup\` adds them.`,
    );
  return settings.settings;
}

/** The settings that the configuration lacks or that differ, by key. */
export function changesIn({ existing = {}, wanted }: Pick<WantedGmail, "existing" | "wanted">): GmailSection {
  const isKnown = (key: string, value: Json) => JSON.stringify(existing[key]) === JSON.stringify(value);
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => !isKnown(key, value)));
}
