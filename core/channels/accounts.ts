/** Opens the accounts of the channels, keeps them true to the configuration, and closes them. A failure of one is left to it. */

import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig, Problem, Secrets } from "../config/index.ts";
import { type Inbound, programCommand, reasonOf, type Silent } from "../contract/index.ts";
import type { ChannelInbound, ChannelStatus } from "../sdk/contract.ts";
import type { StoredEvent } from "../state/index.ts";
import { type AccountSettings, heldAlone, readAccounts } from "./account-settings.ts";
import { accountKey, createAccountStates } from "./account-states.ts";
import { type Contacts, createContacts } from "./contact.ts";
import type { LiveAccount } from "./live-account.ts";
import { type OpenAccount, type OpenAccountOptions, openAccount, tellStatus } from "./open-account.ts";

export interface AccountReport {
  readonly channel: string;
  readonly account: string;
  /** Configuration path of the account. */
  readonly path: string;
  readonly status: ChannelStatus;
  /** Sends of unknown fate that are repeated when the platform answers; absent: none. */
  readonly waitingSends?: number;
}

export interface Accounts {
  get(channel: string, account: string): LiveAccount | undefined;
  /** Whether the platform answers an account, open or not. */
  readonly contact: Contacts["of"];
  /** The accounts of a channel that are open, in the order of the configuration. */
  of(channel: string): readonly LiveAccount[];
  all(): readonly LiveAccount[];
  /** Whether an account that is not open is meant to be: it is configured, and something keeps it from opening. */
  expects(channel: string, account: string): boolean;
  /** Everything that is configured, with its state, also what failed to open. */
  reports(): readonly AccountReport[];
  /** Whether each account that is configured has once connected or failed. */
  allTried(): boolean;
  /** For the `ingress` station: what a platform's event says, together with those that were gathered with it. */
  parse(event: StoredEvent, gathered: readonly StoredEvent[]): Inbound | Silent | null | undefined;
  /**
   * Opens what is configured and not open, closes what no longer is, restarts what has other connection settings. Waits for no connection:
   * only an account that holds what another one has not let go yet starts after that one has closed, or has been given up.
   */
  apply(config: GatewayConfig, disabled: ReadonlySet<string>): Promise<void>;
  /** Connects those that are not yet started; does not wait for the platforms. */
  start(): void;
  /** Takes nothing more in; sending goes on. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

export interface AccountsOptions extends Omit<OpenAccountOptions, "states" | "holds" | "contact"> {
  readonly secrets: Secrets;
  readonly environment: NodeJS.ProcessEnv;
}

/** An account that is on its way out. */
interface Closing {
  readonly channel: string;
  readonly name: string;
  readonly holds: readonly string[];
  /** It has closed, or was given up; never rejects. */
  readonly ended: Promise<void>;
}

/** Two that take in for one credential would take each other's events away. */
function isInTheWay(closing: Closing, name: string, { holds }: OpenAccount): boolean {
  return closing.name === name || closing.holds.some((held) => holds.includes(held));
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { channels, log } = options;
  const open = new Map<string, OpenAccount>();
  /** The same, to be found without a key that is put together: each message asks for its account a dozen times. */
  const index = new Map<string, Map<string, OpenAccount>>();
  const failures = new Map<string, AccountReport>();
  let configured: { readonly config?: GatewayConfig; readonly disabled: ReadonlySet<string> } = { disabled: new Set() };
  let started = false;
  let told: object | undefined;
  const closing = new Set<Closing>();
  const states = createAccountStates(options);
  const key = accountKey;

  const found = (channel: string, account: string) => index.get(channel)?.get(account);
  const { of: contact } = createContacts({ connection: (channel, account) => found(channel, account)?.connection, log });

  function hold(name: string, account: OpenAccount): void {
    open.set(name, account);
    const { channel, id } = account.live;
    const accounts = index.get(channel) ?? new Map<string, OpenAccount>();
    index.set(channel, accounts.set(id, account));
  }

  function drop(name: string): void {
    const live = open.get(name)?.live;
    if (live !== undefined) index.get(live.channel)?.delete(live.id);
    open.delete(name);
  }

  function fail(channel: string, account: string, path: string, detail: string): void {
    const status: ChannelStatus = { state: "failed", detail };
    failures.set(key(channel, account), { channel, account, path, status });
    states.note({ channel, id: account, path }, status);
  }

  function tellProblem(channel: string, account: string, { severity, path, message, hint }: Problem): void {
    if (severity === "error") log.error({ channel, account, path, hint }, message);
    else log.warn({ channel, account, path, hint }, message);
  }

  /** What the configuration asks for; invalid parts are reported and left out. */
  function wanted(config: GatewayConfig, disabled: ReadonlySet<string>): Map<string, AccountSettings> {
    const all = new Map<string, AccountSettings>();
    failures.clear();
    for (const [channel, { definition }] of channels) {
      const section = Object.hasOwn(config.channels, channel) ? config.channels[channel] : undefined;
      if (section === undefined) continue;
      if (disabled.has(`channels.${channel}`)) {
        fail(channel, "default", `channels.${channel}`, `its section has an error: \`${programCommand} config validate\` names it`);
        continue;
      }
      for (const { id, path, problems, settings } of readAccounts(definition, section, options)) {
        if (disabled.has(path)) {
          fail(channel, id, path, `${path} has an error: \`${programCommand} config validate\` names it`);
          continue;
        }
        for (const problem of problems) tellProblem(channel, id, problem);
        if (settings !== undefined) all.set(key(channel, id), settings);
        else fail(channel, id, path, problems.map(({ path: at, message, hint }) => `${at}: ${message}. ${hint ?? ""}`.trim()).join(" "));
      }
    }
    return all;
  }

  /** What needs no new connection applies from the next event on. */
  function retain(account: OpenAccount, { access, options: values }: AccountSettings): void {
    account.access = access;
    if (isDeepStrictEqual(account.options, values)) return;
    account.options = values;
    try {
      account.connection.update?.(values);
    } catch (error) {
      const { channel, id, plugin } = account.live;
      log.error({ channel, account: id, plugin, error: reasonOf(error) }, "new options were not taken");
    }
  }

  function begin(name: string, account: OpenAccount): void {
    if (account.started) return;
    account.started = true;
    const before = [...closing].filter((other) => other.channel === account.live.channel && isInTheWay(other, name, account));
    if (before.length === 0) connect(account);
    else
      void Promise.all(before.map(({ ended }) => ended)).then(() => {
        if (started && !account.closed) connect(account);
      });
  }

  function connect(account: OpenAccount): void {
    account.menu = JSON.stringify(options.commands(account.live.channel));
    account.connection.start().catch((error: unknown) => {
      if (account.closed) return;
      const { channel, id, path } = account.live;
      const status: ChannelStatus = { state: "failed", detail: reasonOf(error) };
      const known = account.status.state === status.state && account.status.detail === status.detail;
      account.status = status;
      if (known) return;
      tellStatus(log.child({ channel, account: id }), status, path);
      states.note({ channel, id, path }, status);
    });
  }

  /** An account registers its menu itself when it connects; it is informed about later changes of the commands. */
  function tellMenu(account: OpenAccount): void {
    const { channel, id, plugin, capabilities } = account.live;
    const commands = options.commands(channel);
    const menu = JSON.stringify(commands);
    if (account.menu === undefined || !capabilities.menu || menu === account.menu) return;
    account.menu = menu;
    account.connection.menu?.(commands).catch((error: unknown) => {
      log.warn({ channel, account: id, plugin, error: reasonOf(error) }, "the menu could not follow the configuration");
    });
  }

  function end(name: string, account: OpenAccount): void {
    drop(name);
    shut(name, account);
  }

  /** Begins to close; others go on meanwhile. Once its deadline is over it is given up: what it still hands in is refused. */
  function shut(name: string, account: OpenAccount): void {
    const { channel, id, plugin } = account.live;
    account.closed = true;
    account.stop.abort();
    const ended = account.connection.close().catch((error: unknown) => {
      log.error({ channel, account: id, plugin, error: reasonOf(error) }, "the connection did not close properly and is given up");
    });
    const entry: Closing = { channel, name, holds: account.holds, ended };
    closing.add(entry);
    void ended.then(() => closing.delete(entry));
  }

  function follow(config: GatewayConfig, disabled: ReadonlySet<string>): void {
    configured = { config, disabled };
    const next = wanted(config, disabled);
    for (const [name, account] of open) if (!next.has(name)) end(name, account);
    for (const [name, settings] of next) {
      const existing = open.get(name);
      if (existing?.fingerprint === settings.fingerprint) {
        retain(existing, settings);
        continue;
      }
      try {
        // In place of the old one at once: what waits in a lane, or is about to be sent, finds the account at any time.
        hold(name, openAccount(settings, { ...options, states, holds: heldAlone(settings), contact }));
      } catch (error) {
        drop(name);
        const detail = reasonOf(error);
        fail(settings.definition.id, settings.id, settings.path, detail);
        const plugin = channels.get(settings.definition.id)?.plugin;
        log.error({ channel: settings.definition.id, account: settings.id, plugin, path: settings.path }, detail);
      }
      if (existing !== undefined) shut(name, existing);
    }
    if (started) for (const [name, account] of open) begin(name, account);
    for (const account of open.values()) tellMenu(account);
    tellAccounts();
  }

  /** A bot that vanished from the configuration by a slip is missed here. */
  function tellAccounts(): void {
    const accounts = [...open.values()].map(({ live: { channel, id } }) => `${channel}:${id}`);
    const failed = [...failures.values()].map(({ channel, account }) => `${channel}:${account}`);
    const line = { accounts, ...(failed.length > 0 && { failed }) };
    if (isDeepStrictEqual(line, told) || (told === undefined && accounts.length + failed.length === 0)) return;
    told = line;
    log.info(line, "these channel accounts are configured");
  }

  return {
    get: (channel, account) => found(channel, account)?.live,
    contact,
    of: (channel) => [...open.values()].filter((account) => account.live.channel === channel).map((account) => account.live),
    all: () => [...open.values()].map((account) => account.live),
    expects(channel, account) {
      if (open.has(key(channel, account)) || configured.config?.channels[channel] === undefined) return false;
      return !channels.has(channel) || configured.disabled.has(`channels.${channel}`) || failures.has(key(channel, account));
    },
    reports: () => [
      ...[...open.values()].map(({ live: { channel, id, path }, status }) => {
        const waitingSends = contact(channel, id).waiting();
        return { channel, account: id, path, status, ...(waitingSends > 0 && { waitingSends }) };
      }),
      ...failures.values(),
    ],
    allTried: () => [...open.keys()].every((name) => states.wasTried(name)),
    parse(event, gathered) {
      const account = event.account === undefined ? undefined : found(event.source, event.account);
      const more = gathered.length === 1 ? [] : gathered.filter(({ id }) => id !== event.id).map(({ body }) => body);
      const parsed = account?.connection.parse(event.body, more);
      return parsed === null || parsed === undefined || "silent" in parsed ? parsed : toInbound(parsed, event);
    },
    async apply(config, disabled) {
      follow(config, disabled);
      await states.keepOnly((name) => open.has(name) || failures.has(name)).catch(() => {});
    },
    start() {
      started = true;
      for (const [name, account] of open) begin(name, account);
    },
    async pause() {
      started = false;
      await Promise.allSettled([...open.values()].map(({ connection }) => connection.pause?.()));
    },
    async close() {
      started = false;
      for (const [name, account] of open) end(name, account);
      await Promise.all([...closing].map(({ ended }) => ended));
    },
  };
}

/** The last moment that a calendar has. A channel that counts in other units must not cost every turn of its chats. */
const lastTime = 8.64e15;
const isTime = (at: number | undefined): at is number => at !== undefined && at > 0 && at <= lastTime;

function toInbound(parsed: ChannelInbound, event: StoredEvent): Inbound {
  const { id, source, account = "", authority, acceptedAt } = event;
  const timestamp = isTime(parsed.timestamp) ? parsed.timestamp : acceptedAt;
  const { forward } = parsed;
  const told = forward === undefined || isTime(forward.timestamp) ? forward : { from: forward.from };
  return { ...parsed, ...(told && { forward: told }), timestamp, id, channel: source, account, authority };
}
