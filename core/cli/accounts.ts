/**
 * The accounts named in the configuration, and what their platforms report. A running gateway asks the platforms;
 * without one, this process does.
 */

import { type AccountSettings, accountPath, readAccounts } from "../channels/account-settings.ts";
import type { ProbeOptions, ProbeReport } from "../channels/connection/probe.ts";
import type { LookOptions } from "../channels/look.ts";
import { channelAccounts } from "../config/checking/merge.ts";
import type { Problem } from "../config/problem.ts";
import type { LoadedConfig } from "../config/reading/load.ts";
import { createSecrets } from "../config/secrets.ts";
import { createIds } from "../state/ids.ts";
import type { CommandContext } from "./context.ts";
import { type Declared, readyPlugins } from "./plugins/declarations.ts";

export interface ConfiguredAccount {
  readonly channel: string;
  readonly account: string;
  readonly path: string;
  /** `off`: disabled; `broken`: something keeps it from opening, see `problems`. */
  readonly state: "ready" | "off" | "broken";
  readonly problems: readonly Problem[];
  readonly settings?: AccountSettings;
}

/** In the order of the file. */
export async function configuredAccounts(
  loaded: LoadedConfig,
  declared: readonly Declared[],
  env: CommandContext["env"],
): Promise<readonly ConfiguredAccount[]> {
  const { config, directory, disabled } = loaded;
  const from = { secrets: createSecrets({ env, directory }), environment: env, owners: config.commands.ownerAllowFrom };
  const known = new Map(
    readyPlugins(declared).flatMap(({ channel }) => (channel === undefined ? [] : [[channel.id, channel] as const])),
  );
  const accounts = Object.entries(config.channels).map(
    async ([channel, section]): Promise<readonly ConfiguredAccount[]> => {
      const definition = known.get(channel);
      const read = definition === undefined ? [] : await readAccounts(definition, section, from);
      return channelAccounts(section, definition?.credentials).map((account) => {
        const { id, enabled } = account;
        const path = accountPath(channel, account);
        const base = { channel, account: id, path };
        const off = [`channels.${channel}`, path].find((one) => disabled.has(one));
        const found = read.find((one) => one.id === id);
        if (off !== undefined)
          return { ...base, state: "broken", problems: loaded.problems.filter((problem) => problem.section === off) };
        if (!enabled) return { ...base, state: "off", problems: [] };
        if (definition === undefined) return { ...base, state: "broken", problems: [noPlugin(channel)] };
        if (found?.settings === undefined) return { ...base, state: "broken", problems: found?.problems ?? [] };
        return { ...base, state: "ready", problems: found.problems, settings: found.settings };
      });
    },
  );
  return (await Promise.all(accounts)).flat();
}

const noPlugin = (channel: string): Problem => ({
  severity: "error",
  path: `channels.${channel}`,
  message: "no plugin provides this channel",
  hint: `Name its plugin in plugins.load, or correct the name.`,
});

/** Longer than all the questions together may take. */
const gatewayPatienceMs = 120_000;
const progressAfterMs = 1_000;

/**
 * Collects what the platforms report. A running gateway uses its own connections and secrets; accounts that it has not
 * opened are probed from this process.
 */
export async function probeAccounts(
  context: CommandContext,
  accounts: readonly ConfiguredAccount[],
  { names = false }: { readonly names?: boolean } = {},
): Promise<readonly ProbeReport[]> {
  if (accounts.length === 0) return [];
  const progress = setTimeout(() => context.terminal.note("Asking the platforms ..."), progressAfterMs);
  try {
    const answer = await (await context.gateway())?.call("POST", "/gateway/probe", {
      body: { names },
      patienceMs: gatewayPatienceMs,
    });
    const known = answer?.ok === true ? (answer.body as { readonly accounts: readonly ProbeReport[] }).accounts : [];
    const stateDirectory = await context.stateDirectory();
    return await Promise.all(
      accounts.flatMap(({ channel, account, settings }) => {
        const found = known.find((report) => report.channel === channel && report.account === account);
        if (found !== undefined) return found;
        if (settings === undefined) return [];
        return look(settings, { stateDirectory, now: context.now, newId: createIds(context.now), names });
      }),
    );
  } finally {
    clearTimeout(progress);
  }
}

/** Loads a channel's code only if this process has to probe an account. */
async function look(settings: AccountSettings, options: LookOptions & ProbeOptions): Promise<ProbeReport> {
  return await (await import("../channels/look.ts")).lookAtAccount(settings, options);
}
