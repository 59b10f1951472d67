/**
 * An account's connection in a process that is not a gateway: it answers a few questions and is closed, and receives
 * nothing.
 */
import { join } from "node:path";
import { misnamedGroups } from "../access/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { AccountSecrets, ChannelAccount, PluginLog, PluginStore } from "../sdk/contract.ts";
import type { AccountSettings } from "./account-settings.ts";
import { openAccountSecrets } from "./connection/account-secrets.ts";
import { guardConnection } from "./connection/guarded-connection.ts";
import { type ProbeOptions, type ProbeReport, probeAccount } from "./connection/probe.ts";
import type { LiveAccount } from "./live-account.ts";
import { openConnection } from "./open-account.ts";

const silent: PluginLog = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** A connection's stored data belongs to the gateway, so this process reads and writes none. */
const noStore: PluginStore = {
  get: async () => null,
  set: async () => {},
  delete: async () => false,
  list: async () => [],
  update: async (_key, change) => change(null) ?? null,
};

/** A session that was made here would be lost, or would end that of the gateway. */
function readOnlySecrets(directory: string, plugin: string): AccountSecrets {
  const { get } = openAccountSecrets({ directory, plugin, remember() {} });
  return { get, set: async () => {}, delete: async () => false };
}

export interface LookOptions {
  readonly stateDirectory: string;
  readonly now: () => number;
  readonly newId: () => string;
}

/** Opens a connection, calls `ask` with it, and closes it. */
export async function lookInto<T>(
  settings: AccountSettings,
  options: LookOptions,
  ask: (live: LiveAccount) => Promise<T>,
): Promise<T> {
  const { definition, id, path, access, identity } = settings;
  const stop = new AbortController();
  const account: ChannelAccount = {
    id,
    options: settings.options,
    log: silent,
    store: noStore,
    secrets: readOnlySecrets(join(options.stateDirectory, definition.id, id), definition.id),
    signal: stop.signal,
    directory: join(options.stateDirectory, definition.id, id),
    now: options.now,
    newId: options.newId,
    sent: async () => {},
    receive: async () => {
      throw new Error("no events are accepted here");
    },
    check: async () => ({ allowed: false, code: "not_taken_in", notice: "" }),
    route() {},
    judgeCaller: () => ({ ok: false, status: 401 }),
    debounceMs: () => 0,
    room: () => undefined,
    calling: () => () => {},
    status() {},
    commands: () => [],
  };
  // Without the gateway, only the channel's id is known of its plugin.
  const guard = {
    ...{ plugin: definition.id, name: `${definition.id}:${id}`, onFault: () => {} },
    ...(definition.identity?.fold && { fold: identity.fold }),
  };
  const connection = guardConnection(openConnection(definition, account), guard);
  try {
    return await ask({
      channel: definition.id,
      plugin: definition.id,
      id,
      path,
      connection,
      codes: definition.codes ?? {},
      capabilities: settings.capabilities,
      access,
      identity,
      options: settings.options,
      status: () => ({ state: "stopped" }),
    });
  } finally {
    stop.abort();
    // A failure to close the connection changes no answer.
    await connection.close().catch(() => {});
  }
}

export async function lookAtAccount(
  settings: AccountSettings,
  options: LookOptions & ProbeOptions,
): Promise<ProbeReport> {
  const { definition, id, path, access, identity } = settings;
  try {
    return await lookInto(settings, options, (live) => probeAccount(live, options));
  } catch (error) {
    const probe = { ok: false, detail: reasonOf(error) };
    return {
      channel: definition.id,
      account: id,
      path,
      probe,
      groups: [],
      unprobed: Object.keys(access.groups ?? {}),
      misnamed: misnamedGroups(access, identity),
      names: [],
      groupNames: [],
    };
  }
}
