/** `webhooks imap setup` and `teardown`: check a mailbox, write it into the configuration, and remove it again. */
import { existsSync } from "node:fs";
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import type { ImapSettings } from "../../settings.ts";
import { SourceError } from "../../source.ts";
import { forgetMailbox } from "../forget.ts";
import { prepareHooks } from "../hook-server.ts";
import { accountOf, answered, isSet } from "../options.ts";
import { prepareStart } from "../start.ts";
import { done, retained, runSteps, type Steps } from "../steps.ts";
import { imapAccess } from "./access.ts";
import { changesTo, type Password, passwordFile, passwordOf, type WantedAccount, wantedAccount } from "./account.ts";
import { checkMailbox } from "./checks.ts";
import { namedMailbox } from "./name.ts";

type Preset = ReturnType<CliCall["preset"]>;

type Accounts = Readonly<Record<string, Partial<ImapSettings>>>;

async function accountsIn(preset: Preset): Promise<Accounts> {
  const section = (await preset.settings()) as { readonly accounts?: Accounts } | undefined;
  return section?.accounts ?? {};
}

const accountIn = (accounts: Accounts, account: string) =>
  Object.hasOwn(accounts, account) ? accounts[account] : undefined;

export const setupImap = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const preset = call.preset("imap");
    const accounts = await accountsIn(preset);
    const { account, user } = await namedMailbox(call, accounts);
    const existing = accountIn(accounts, account);
    const wanted = await wantedAccount(call, { account, existing, user });
    const names = { source: "imap", account };
    return runSteps(call, { dryRun: isSet(call, "dry-run"), failed: names }, async (steps) => {
      await checkProvider(steps, wanted);
      const password = await passwordOf(call, wanted);
      const access = await accessWith(call, steps, wanted, password);
      const unchanged = existing !== undefined && Object.keys(changesTo(wanted, password)).length === 0;
      const tls = await checkMailbox(call, steps, { ...wanted, access, outcome: unchanged ? "kept" : "done" });
      const changes = changesTo({ ...wanted, settings: { ...wanted.settings, tls } }, password);
      await prepareHooks(steps, preset, "imap");
      const undo = await prepareStart(call, steps, names, wanted);
      await writePassword(call, steps, { account, typed: password?.typed });
      await writeAccount(steps, preset, { account, existed: existing !== undefined, changes, undo });
      return steps.answer(names, await nextLines(call, steps, { isNew: existing === undefined }));
    });
  });

async function checkProvider(steps: Steps, { provider, existing }: WantedAccount): Promise<void> {
  if (provider === undefined) return;
  await steps.step("provider", "Checking the provider", async () => {
    const { name, wants, refusesPasswords = false } = provider;
    if (refusesPasswords && existing?.oauth === undefined)
      throw new SourceError("setup", `${name} is not set up with a password.`, wants);
    return existing === undefined ? done(`${name}. ${wants}`) : retained(`${name}.`);
  });
}

async function accessWith(
  call: CliCall,
  steps: Steps,
  { account, existing }: WantedAccount,
  password: Password | undefined,
): Promise<ReturnType<typeof imapAccess>> {
  if (password === undefined)
    return imapAccess(call, account, existing?.oauth === undefined ? {} : { oauth: existing.oauth });
  const { reference, typed } = password;
  // A typed password is not in its file yet, so it is its own reference here.
  if (typed !== undefined) return imapAccess(call, account, { password: typed });
  return await steps.step("password", "Reading the password", async () => {
    call.preset("imap").secret(reference, `accounts.${account}.password`);
    const { env } = reference as { readonly env?: string };
    const place =
      env === undefined
        ? "It can be read."
        : `The variable ${env} contains it. The gateway needs this variable in its environment too.`;
    return {
      ...(existing === undefined ? done(place) : retained(place)),
      value: imapAccess(call, account, { password: reference }),
    };
  });
}

async function writePassword(
  call: CliCall,
  steps: Steps,
  { account, typed }: { readonly account: string; readonly typed: string | undefined },
): Promise<void> {
  if (typed === undefined) return;
  const file = await call.secretFiles.path(passwordFile(account));
  const detail = {
    would: `write the password to ${file}, which only you can read`,
    done: `The password is in ${file}, which only you can read.`,
  };
  await steps.change("password", detail, () => call.secretFiles.write(passwordFile(account), `${typed}\n`));
}

async function writeAccount(
  steps: Steps,
  preset: Preset,
  {
    account,
    changes,
    existed,
    undo,
  }: {
    readonly account: string;
    readonly changes: { readonly [key: string]: Json };
    readonly existed: boolean;
    readonly undo: () => Promise<void>;
  },
): Promise<void> {
  const at = `hooks.imap.accounts.${account}`;
  if (existed && Object.keys(changes).length === 0) {
    await steps.step("configuration", "Checking the configuration", async () => retained(`${at} is correct.`));
    return;
  }
  const write = async (): Promise<void> => {
    try {
      if (!existed) await preset.set(["accounts", account], changes as Json);
      else for (const [key, value] of Object.entries(changes)) await preset.set(["accounts", account, key], value);
    } catch (error) {
      await undo();
      throw error;
    }
  };
  const keys = Object.keys(changes).join(", ");
  const detail = existed
    ? { would: `set ${keys} of ${at}`, done: `${at} has a new value of ${keys}.` }
    : { would: `write ${at} with ${keys}`, done: `${at} is written, with ${keys}.` };
  await steps.change("configuration", detail, write);
}

async function nextLines(
  call: CliCall,
  { dryRun }: Steps,
  { isNew }: { readonly isNew: boolean },
): Promise<readonly string[]> {
  if (dryRun) return ["This was a dry run: nothing was changed."];
  const status = `\`${call.program} webhooks imap status\` shows the state of the mailbox.`;
  if ((await call.gateway()) === undefined)
    return [`No gateway is running; the next start reads the mailbox: ${call.program} gateway`, status];
  return [
    isNew ? "The running gateway starts to read the mailbox within seconds." : "The running gateway applies this.",
    status,
  ];
}

export const teardownImap = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const preset = call.preset("imap");
    const account = await accountOf(call);
    const existing = accountIn(await accountsIn(preset), account);
    const names = { source: "imap", account };
    return runSteps(call, { dryRun: isSet(call, "dry-run"), failed: names }, async (steps) => {
      const at = `hooks.imap.accounts.${account}`;
      if (existing === undefined)
        await steps.step("configuration", "Looking", async () => retained(`There is no ${at}.`));
      else
        await steps.change("configuration", { would: `remove ${at}`, done: `${at} is removed.` }, () =>
          preset.set(["accounts", account], undefined),
        );
      await removePassword(call, steps, account);
      await forgetMailbox(call, steps, names);
      return steps.answer(
        names,
        steps.dryRun ? ["This was a dry run: nothing was changed."] : ["The mailbox itself was not changed."],
      );
    });
  });

async function removePassword(call: CliCall, steps: Steps, account: string): Promise<void> {
  const file = await call.secretFiles.path(passwordFile(account));
  if (existsSync(file))
    await steps.change("password", { would: `remove ${file}`, done: `${file} is removed.` }, () =>
      call.secretFiles.remove(passwordFile(account)),
    );
  else await steps.step("password", "Looking", async () => retained("The setup created no password file."));
}
