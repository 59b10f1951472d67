/**
 * Opens the accounts of the channels, adapts them to the configuration, and closes them. A failure of one does not
 * affect the others.
 */

import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig, Secrets } from "../config/index.ts";
import { type Address, codeOf, reasonOf } from "../contract/index.ts";
import type { CalledChannel } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import type { ChannelCapabilities, ChannelStatus } from "../sdk/contract.ts";
import { createDuties, type StoredEvent } from "../state/index.ts";
import { createAway } from "./absent-accounts.ts";
import { retainAccount, updateMenu } from "./account-changes.ts";
import { parseEvent } from "./account-inbound.ts";
import { createAccountLife } from "./account-life.ts";
import { type AccountSettings, heldAlone } from "./account-settings.ts";
import { accountKey, createAccountStates } from "./account-states.ts";
import type { AwayAccounts } from "./away.ts";
import { type Contacts, createContacts } from "./connection/contact.ts";
import { explainedStatus, reasonOfStatus } from "./connection/status-detail.ts";
import { createFollowing } from "./following.ts";
import type { LiveAccount } from "./live-account.ts";
import { type OpenAccount, type OpenAccountOptions, openAccount } from "./open-account.ts";
import { createOpenAccounts } from "./open-accounts.ts";
import { type RenewedAccounts, renewAccounts } from "./renewed-accounts.ts";
import type { RouteReport } from "./routes/account-routes.ts";
import { createFindRoute, type FindRoute } from "./routes/find-route.ts";
import { type FailedAccount, type WantedAccounts, wantedAccounts } from "./wanted-accounts.ts";

export interface AccountReport {
  readonly channel: string;
  readonly account: string;
  /** Configuration path of the account. */
  readonly path: string;
  readonly status: ChannelStatus;
  /** Set while another node receives and sends for the account, and this one is ready to take over. */
  readonly standby?: true;
  /** Sends with an unknown outcome, which are repeated when the platform answers; absent if there are none. */
  readonly waitingSends?: number;
  /** Its addresses on the gateway's port; absent if it has none. */
  readonly addresses?: readonly RouteReport[];
}

export interface Accounts extends AwayAccounts {
  get(channel: string, account: string): LiveAccount | undefined;
  /** Whether an account's platform answers; also works for an account that is not open. */
  readonly contact: Contacts["of"];
  /**
   * What an account can do; of an account that is not open, what its channel says of all of them. `undefined`: unknown.
   */
  capabilities(at: Pick<Address, "channel" | "account">): ChannelCapabilities | undefined;
  /** What answers at an address below `/channels/`. */
  readonly route: FindRoute;
  /** The open accounts of a channel, in the order of the configuration. */
  of(channel: string): readonly LiveAccount[];
  all(): readonly LiveAccount[];
  /** All configured accounts with their states, including those that failed to open. */
  reports(): readonly AccountReport[];
  /** Whether each configured account has connected or failed at least once. */
  allTried(): boolean;
  /** For the `ingress` station: parses a platform event, together with those gathered with it. */
  parse(event: StoredEvent, gathered: readonly StoredEvent[]): ReturnType<typeof parseEvent>;
  /**
   * Opens, closes and restarts accounts as the configuration requires. It does not wait for connections. An account
   * that needs something a closing account still holds starts once that account has closed or was given up.
   */
  apply(config: GatewayConfig, disabled: ReadonlySet<string>): Promise<void>;
  /**
   * Reads the accounts of a configuration. The returned function then does what `apply` does, and adapts them before it
   * returns.
   */
  prepare(config: GatewayConfig, disabled: ReadonlySet<string>): Promise<() => Promise<void>>;
  /**
   * Opens the accounts of a plugin's channels with the definitions of its new instance, without connecting them. Throws
   * `PluginError` where an account that is open now could not be opened: then nothing has changed.
   */
  renew(channels: AccountsOptions["channels"]): Promise<RenewedAccounts>;
  /** Connects those that are not yet started; does not wait for the platforms. */
  start(): void;
  /** Closes every account and opens it again, because this node lost the duty to receive for it. */
  restart(): Promise<void>;
  /** Stops receiving; sending continues. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

export interface AccountsOptions extends Omit<OpenAccountOptions, "states" | "holds" | "contact"> {
  /** Called when accounts may have been opened. */
  readonly onOpened: () => void;
  readonly secrets: Secrets;
  readonly environment: NodeJS.ProcessEnv;
}

/** Makes a bot that was removed from the configuration by mistake visible in the log. */
function createAccountsLog(log: Log): (open: readonly OpenAccount[], failures: readonly AccountReport[]) => void {
  let logged: object | undefined;
  return (open, failures) => {
    const accounts = open.map(({ live: { channel, id } }) => `${channel}:${id}`);
    const failed = failures.map(({ channel, account }) => `${channel}:${account}`);
    const line = { accounts, ...(failed.length > 0 && { failed }) };
    if (isDeepStrictEqual(line, logged) || (logged === undefined && accounts.length + failed.length === 0)) return;
    logged = line;
    log.info(line, "these channel accounts are configured");
  };
}

function reportOf(
  { live: { channel, id, path }, routes, status, standby }: OpenAccount,
  contact: Contacts["of"],
): AccountReport {
  const waitingSends = contact(channel, id).waiting();
  const addresses = routes.reports();
  return {
    channel,
    account: id,
    path,
    status,
    ...(standby === true && status.state !== "failed" && { standby }),
    ...(waitingSends > 0 && { waitingSends }),
    ...(addresses.length > 0 && { addresses }),
  };
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { channels, log } = options;
  const open = createOpenAccounts();
  const failures = new Map<string, AccountReport>();
  let started = false;
  let isClosed = false;
  const states = createAccountStates(options);
  const logAccounts = createAccountsLog(log);
  const duties = createDuties(options.store.nodes);
  const life = createAccountLife({ log, commands: options.commands, duties, states, isStarted: () => started });
  const { of: contact } = createContacts({
    connection: (channel, account) => open.find(channel, account)?.connection,
    log,
  });

  function fail({ channel, account, path }: Omit<FailedAccount, "detail">, reason: Omit<ChannelStatus, "state">): void {
    const status: ChannelStatus = { ...reason, state: "failed" };
    failures.set(accountKey(channel, account), { channel, account, path, status });
    states.note({ channel, id: account, path }, status);
  }

  function close(name: string): void {
    const account = open.named(name);
    open.drop(name);
    if (account !== undefined) life.shut(name, account);
  }

  /** The new account replaces the old one at once, so that waiting events and sends always find an account. */
  function reopen(name: string, settings: AccountSettings): void {
    const existing = open.named(name);
    try {
      open.hold(name, openAccount(settings, { ...options, states, holds: heldAlone(settings), contact }));
    } catch (error) {
      open.drop(name);
      const { id, path, definition } = settings;
      const status = explainedStatus({ state: "failed", detail: reasonOf(error), ...codeOf(error) }, definition.codes);
      fail({ channel: definition.id, account: id, path }, status);
      log.error(
        { channel: definition.id, account: id, plugin: channels.get(definition.id)?.plugin, path },
        reasonOfStatus(status),
      );
    }
    if (existing !== undefined) life.shut(name, existing);
  }

  function beginAll(): void {
    for (const [name, account] of open.entries()) life.begin(name, account);
  }

  function follow({ accounts: next, failed }: WantedAccounts): void {
    if (isClosed) return;
    failures.clear();
    for (const { detail, ...account } of failed) fail(account, { detail });
    for (const [name] of open.entries()) if (!next.has(name)) close(name);
    for (const [name, settings] of next) {
      const existing = open.named(name);
      if (existing?.fingerprint === settings.fingerprint && existing.stale !== true)
        retainAccount(existing, settings, log);
      else reopen(name, settings);
    }
    if (started) beginAll();
    for (const account of open.all()) updateMenu(account, options);
    logAccounts(open.all(), [...failures.values()]);
    options.onOpened();
  }

  const following = createFollowing({ read: (configured) => wantedAccounts(configured, options), follow });
  const { configured } = following;

  async function prepare(config: GatewayConfig, disabled: ReadonlySet<string>): Promise<() => Promise<void>> {
    const adapt = await following.prepare({ config, disabled });
    return async () => {
      await adapt();
      await states.keepOnly((name) => open.named(name) !== undefined || failures.has(name)).catch(() => {});
    };
  }

  return {
    get: (channel, account) => open.find(channel, account)?.live,
    contact,
    route: createFindRoute({ open, definitionOf: (channel) => channels.get(channel)?.definition as CalledChannel }),
    capabilities({ channel, account }) {
      const ofAccount = open.find(channel, account)?.capabilities;
      if (ofAccount !== undefined) return ofAccount;
      const declared = channels.get(channel)?.definition.capabilities;
      return typeof declared === "function" ? undefined : declared;
    },
    of: (channel) => open.all().flatMap(({ live }) => (live.channel === channel ? [live] : [])),
    all: () => open.all().map((account) => account.live),
    ...createAway({ open, failures, channels, configured }),
    reports: () => [...open.all().map((account) => reportOf(account, contact)), ...failures.values()],
    allTried: () => open.entries().every(([name]) => states.wasTried(name)),
    parse: (event, gathered) =>
      parseEvent(event, gathered, event.account === undefined ? undefined : open.find(event.source, event.account)),
    renew: (renewed) =>
      renewAccounts(renewed, {
        ...{ options, open, life, configured: configured() },
        follow() {
          const followed = following.replaced();
          if (started) beginAll();
          return followed;
        },
        openOne: (settings) =>
          openAccount(settings, { ...options, channels: renewed, states, holds: heldAlone(settings), contact }),
      }),
    prepare,
    async apply(config, disabled) {
      const adapt = await prepare(config, disabled);
      await adapt();
    },
    start() {
      started = true;
      beginAll();
    },
    restart() {
      for (const account of open.all()) account.stale = true;
      return following.replaced();
    },
    async pause() {
      started = false;
      await Promise.allSettled(open.all().map(({ connection }) => connection.pause?.()));
    },
    async close() {
      started = false;
      isClosed = true;
      for (const [name] of open.entries()) close(name);
      await life.ended();
    },
  };
}
