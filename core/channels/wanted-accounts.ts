/** The accounts that a configuration asks for. Invalid parts are logged and left out. */
import type { GatewayConfig, Problem } from "../config/index.ts";
import { programCommand } from "../contract/index.ts";
import type { CalledChannel, Owned } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import { type AccountSettings, type ReadFrom, readAccounts } from "./account-settings.ts";
import { accountKey } from "./account-states.ts";

export interface WantedAccounts {
  readonly accounts: ReadonlyMap<string, AccountSettings>;
  readonly failed: readonly FailedAccount[];
}

/** An account that is configured and cannot be opened. */
export interface FailedAccount {
  readonly channel: string;
  readonly account: string;
  readonly path: string;
  readonly detail: string;
}

export async function wantedAccounts(
  { config, disabled }: { readonly config: GatewayConfig; readonly disabled: ReadonlySet<string> },
  options: Omit<ReadFrom, "owners"> & {
    readonly channels: ReadonlyMap<string, Owned<CalledChannel>>;
    readonly log: Log;
  },
): Promise<WantedAccounts> {
  const from: ReadFrom = { ...options, owners: config.commands.ownerAllowFrom };
  const accounts = new Map<string, AccountSettings>();
  const failed: FailedAccount[] = [];
  const isBroken = (channel: string) => disabled.has(`channels.${channel}`);
  const sections = [...options.channels].flatMap(([channel, { definition }]) => {
    const section = Object.hasOwn(config.channels, channel) ? config.channels[channel] : undefined;
    return section === undefined ? [] : [{ channel, definition, section }];
  });
  // At once: a channel that does not answer holds up no other.
  const read = await Promise.all(
    sections.map(({ channel, definition, section }) =>
      isBroken(channel) ? [] : readAccounts(definition, section, from),
    ),
  );
  for (const [index, { channel }] of sections.entries()) {
    const fail = (account: string, path: string, detail: string) => failed.push({ channel, account, path, detail });
    if (isBroken(channel)) {
      fail(
        "default",
        `channels.${channel}`,
        `its section has an error: \`${programCommand} config validate\` names it`,
      );
      continue;
    }
    for (const { id, path, problems, settings } of read[index] ?? []) {
      if (disabled.has(path)) {
        fail(id, path, `${path} has an error: \`${programCommand} config validate\` names it`);
        continue;
      }
      for (const problem of problems) logProblem(options.log, { channel, account: id }, problem);
      if (settings !== undefined) accounts.set(accountKey(channel, id), settings);
      else
        fail(
          id,
          path,
          problems.map(({ path: at, message, hint }) => `${at}: ${message}. ${hint ?? ""}`.trim()).join(" "),
        );
    }
  }
  return { accounts, failed };
}

function logProblem(
  log: Log,
  at: { readonly channel: string; readonly account: string },
  { severity, path, message, hint }: Problem,
): void {
  if (severity === "error") log.error({ ...at, path, hint }, message);
  else log.warn({ ...at, path, hint }, message);
}
