/** Chats whose id the platform has changed: what is stored about a group under its old id moves along. */
import { setTimeout as wait } from "node:timers/promises";
import {
  type Environment,
  editConfig,
  type GatewayConfig,
  getPath,
  isRecord,
  renameConfigKey,
  renderPath,
  type Segment,
} from "../config/index.ts";
import { type Address, type Inbound, reasonOf, type Silent } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Store } from "../state/index.ts";
import type { LiveAccount } from "./live-account.ts";

export interface ChatMove {
  readonly channel: string;
  readonly account: string;
  readonly from: string;
  readonly to: string;
}

export interface Migrations {
  /** Loads earlier moves; call before the first event runs. */
  load(): Promise<void>;
  /** The current address. */
  current(address: Address): Address;
  /** Moves an event of the old chat to the new one. The announcement of the move itself needs no reply. */
  follow(inbound: Inbound): Inbound | Promise<Silent>;
  /** Moves configuration, session, history and pending work. Idempotent. */
  move(move: ChatMove): Promise<void>;
}

export interface MigrationOptions {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly config: () => GatewayConfig;
  readonly configFile: string;
  readonly environment: Environment;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  /** The sessions of the old chat, and their keys in the new one. */
  readonly sessionsOf: (
    move: ChatMove,
    knownKeys: readonly string[],
  ) => readonly { readonly from: string; readonly to: string }[];
  /** Moves what is stored about a session outside the store. */
  readonly onMoved: (session: { readonly from: string; readonly to: string }) => Promise<unknown>;
  /** Looks for the lanes in which the moved work waits. */
  readonly rescan: () => Promise<void>;
}

const namespace = "chats-moved";
const mostSessions = 100_000;
/** The file is watched, so an edit normally takes effect long before this. */
const longestReloadMs = 3_000;

export function createMigrations(options: MigrationOptions): Migrations {
  const { store, log } = options;
  const known = new Map<string, string>();
  let moving: Promise<unknown> = Promise.resolve();
  const keyOf = (channel: string, account: string, chat: string) => `${channel}:${account}:${chat}`;

  async function carryOver(move: ChatMove): Promise<void> {
    const { channel, account, from, to } = move;
    const key = keyOf(channel, account, from);
    const first = known.get(key) !== to;
    // Stored first, so that everything parsed or sent after this uses the new chat, even if the rest fails.
    await store.set(namespace, key, to, { durable: true });
    known.set(key, to);
    const stored = await store.sessions({ limit: mostSessions });
    const sessions = options.sessionsOf(
      move,
      stored.map((session) => session.key),
    );
    await Promise.all(sessions.map(options.onMoved));
    const { moved } = await store.moveChat({ ...move, sessions, at: options.now() });
    if (first)
      log.info(
        { channel, account, from, to, waiting: moved },
        "a group has a new id; its settings and conversation move with it",
      );
    await renameInConfig(move, options);
    await options.rescan();
  }

  const migrations: Migrations = {
    async load() {
      for (const { key, value } of await store.list(namespace)) if (typeof value === "string") known.set(key, value);
    },
    current(address) {
      const chat = known.size === 0 ? undefined : known.get(keyOf(address.channel, address.account, address.chat));
      return chat === undefined ? address : { ...address, chat };
    },
    follow(inbound) {
      const { channel, account, chat, migratedTo } = inbound;
      if (inbound.kind === "migration")
        return migrations.move({ channel, account, from: chat.id, to: migratedTo ?? chat.id }).then(() => ({
          silent: "chat_migrated",
          detail: "The platform has given this chat a new id.",
        }));
      const now = migrations.current({ channel, account, chat: chat.id }).chat;
      return now === chat.id ? inbound : { ...inbound, chat: { ...chat, id: now } };
    },
    move(move) {
      if (move.from === move.to) return Promise.resolve();
      // One at a time: the platform announces the move in both chats, and a send may learn of it simultaneously.
      const done = moving.then(() => carryOver(move));
      moving = done.catch(() => {});
      return done;
    },
  };
  return migrations;
}

/** Keys of the group in the file: for all accounts, and for this one. */
function groupPaths(config: GatewayConfig, { channel, account, from }: ChatMove): readonly (readonly Segment[])[] {
  const section = getPath(config, ["channels", channel]);
  const accounts = isRecord(section) && isRecord(section.accounts) ? Object.keys(section.accounts) : [];
  const own = accounts.find((name) => name.trim().toLowerCase() === account);
  const places: readonly (readonly Segment[])[] = [
    ["channels", channel],
    ...(own === undefined ? [] : [["channels", channel, "accounts", own] as const]),
  ];
  return places.map((at) => [...at, "groups", from]).filter((path) => getPath(config, path) !== undefined);
}

/** Bindings that name the group as their peer. */
function bindingPaths(config: GatewayConfig, { channel, account, from }: ChatMove): readonly (readonly Segment[])[] {
  return (config.bindings ?? []).flatMap(({ match }, index) => {
    const mine = match.channel === channel && (match.accountId === undefined || match.accountId === account);
    return mine && match.peer !== undefined && match.peer.kind !== "direct" && String(match.peer.id) === from
      ? [["bindings", index, "match", "peer", "id"]]
      : [];
  });
}

async function renameInConfig(move: ChatMove, options: MigrationOptions): Promise<void> {
  const { log, config, configFile, environment: env } = options;
  const { channel, account, to } = move;
  const groups = groupPaths(config(), move);
  const bindings = bindingPaths(config(), move);
  if (groups.length + bindings.length === 0) return;
  const report = (why: string) => {
    for (const path of groups)
      log.warn(
        { channel, account, path: renderPath(path), hint: `Rename this key to "${to}".` },
        `a group has a new id: ${why}`,
      );
    for (const path of bindings)
      log.warn(
        { channel, account, path: renderPath(path), hint: `Set it to "${to}".` },
        `a group has a new id: ${why}`,
      );
  };
  if (options.account(channel, account)?.options.configWrites === false)
    return report("configWrites is false, so the file is not changed");
  try {
    for (const path of groups) await renameConfigKey(configFile, path, to, { env });
    for (const path of bindings) await editConfig(configFile, path, to, { env });
  } catch (error) {
    return report(`the configuration could not be changed (${reasonOf(error)})`);
  }
  // Events of the new chat are checked against its settings, so they wait until those are in effect.
  const end = performance.now() + longestReloadMs;
  while (performance.now() < end && groupPaths(config(), move).length + bindingPaths(config(), move).length > 0)
    await wait(20);
}
