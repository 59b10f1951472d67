/** One open account of a channel: its connection, the host's data about it, and how its events reach the inbox. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AccountAccess, IdentityRule } from "../access/index.ts";
import type { Secrets } from "../config/index.ts";
import { findCode, HostError } from "../contract/index.ts";
import {
  type CalledChannel,
  type CalledConnection,
  connectionProblem,
  type GuardedConnection,
  type Owned,
  scopedStore,
} from "../host/index.ts";
import { createClientAddress, createJudgeCaller } from "../http/index.ts";
import type { Log } from "../log/index.ts";
import type { ChannelAccount, ChannelCapabilities, ChannelDefinition, ChannelStatus } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";
import { createUnderWay, type TimedCall, type UnderWay } from "../stations/index.ts";
import type { AccountSettings } from "./account-settings.ts";
import type { AccountStates } from "./account-states.ts";
import { openAccountSecrets } from "./connection/account-secrets.ts";
import type { ReportSent } from "./connection/after-receipt.ts";
import { readCommandPrefix, writeCommandPrefix } from "./connection/command-prefix.ts";
import type { Contact } from "./connection/contact.ts";
import { createFaultLog } from "./connection/fault-log.ts";
import { guardConnection } from "./connection/guarded-connection.ts";
import { actionProblem } from "./connection/sign-in-action.ts";
import { explainedStatus, reasonOfStatus } from "./connection/status-detail.ts";
import type { LiveAccount } from "./live-account.ts";
import { checkUpdate, type ReceivingOptions, readUpdate, receiveUpdate } from "./receive-update.ts";
import { type AccountRoutes, createAccountRoutes } from "./routes/account-routes.ts";

export interface OpenAccount {
  readonly live: LiveAccount;
  readonly connection: GuardedConnection;
  readonly fingerprint: string;
  /** See `AccountSettings`. */
  readonly signsInAs?: string | undefined;
  readonly stop: AbortController;
  readonly holds: readonly string[];
  /** Calls into the connection whose answers are awaited. */
  readonly calls: UnderWay;
  readonly routes: AccountRoutes;
  /** Replaced at a reload, without a restart. */
  access: AccountAccess;
  identity: IdentityRule;
  capabilities: ChannelCapabilities;
  options: Readonly<Record<string, unknown>>;
  status: ChannelStatus;
  started: boolean;
  /** Set when it is opened again even if nothing in the configuration has changed. */
  stale?: boolean;
  /** Set while another node receives and sends for the account. */
  standby?: boolean;
  /** Set when another instance has taken its place: it finishes what it began. */
  replaced: boolean;
  /** Set when closing begins; later events from it are refused. */
  closed: boolean;
  /** The commands of its current menu, as text. */
  menu?: string;
}

export interface OpenAccountOptions extends ReceivingOptions {
  readonly states: AccountStates;
  readonly secrets: Pick<Secrets, "remember">;
  /** See `heldAlone`. */
  readonly holds: readonly string[];
  readonly channels: ReadonlyMap<string, Owned<ChannelDefinition>>;
  readonly store: Store;
  readonly stateDirectory: string;
  readonly now: () => number;
  readonly trustedProxies: () => readonly string[];
  readonly debounceMs: () => number;
  readonly room: ChannelAccount["room"];
  readonly contact: (channel: string, account: string) => Contact;
  readonly reportSent: ReportSent;
  readonly timed: TimedCall;
  readonly elapsed: () => number;
  readonly commands: (channel: string) => readonly { readonly name: string; readonly summary: string }[];
}

export function openAccount(
  { definition, id, path, options: values, access, identity, capabilities, fingerprint, signsInAs }: AccountSettings,
  options: OpenAccountOptions,
): OpenAccount {
  const { log, now } = options;
  const channel = definition.id;
  const plugin = options.channels.get(channel)?.plugin ?? channel;
  const stop = new AbortController();
  const directory = join(options.stateDirectory, channel, id);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const accountLog = log.child({ channel, account: id });
  const holder: { open?: OpenAccount } = {};
  const calls = createUnderWay();
  const judgeCaller = createJudgeCaller({
    elapsed: options.elapsed,
    clientAddress: createClientAddress(options.trustedProxies),
    onLimited: (client, seconds) =>
      accountLog.warn({ client, seconds }, "callers with a wrong secret are refused for a while"),
  });
  const { timed } = options;
  const routes = createAccountRoutes({ plugin, channel, account: id, judge: judgeCaller, now, timed });
  const opened = openConnection(definition, {
    id,
    options: values as never,
    log: accountLog,
    store: scopedStore(options.store, `channel:${channel}:${id}`, now),
    secrets: openAccountSecrets({ directory, plugin, remember: (text) => options.secrets.remember(text) }),
    signal: stop.signal,
    directory,
    now,
    newId: options.newId,
    async receive(raw, at = {}) {
      if (holder.open?.closed === true) throw new HostError("account_closed", { channel, account: id });
      return receiveUpdate({ holder, channel, account: id, raw, at, options });
    },
    async check(raw) {
      if (holder.open?.closed === true)
        return { allowed: false, code: "account_closed", notice: "This cannot be answered right now." };
      const { parsed } = await readUpdate(holder.open, raw, options);
      return checkUpdate(parsed, { channel, account: id, id: options.newId(), check: options.check });
    },
    status(reported) {
      if (holder.open === undefined || holder.open.closed || holder.open.standby === true) return;
      if (!isStatus(reported)) return accountLog.warn({ plugin }, "the channel reports a status that does not exist");
      const status = explainedStatus(withAction(reported, { log: accountLog, plugin }), definition.codes);
      const { code, detail, hint, action: _, ...before } = holder.open.status;
      holder.open.status = { ...before, ...status };
      if (
        isDeepStrictEqual([status.state, status.code, status.detail, status.hint], [before.state, code, detail, hint])
      )
        return;
      if (status.code !== undefined && findCode(status.code, { plugin: definition.codes ?? {} }) === undefined)
        accountLog.warn(
          { plugin, code: status.code },
          "the channel reports a code that is neither the gateway's nor declared in its codes",
        );
      logStatus(accountLog, status, path);
      options.states.note({ channel, id, path }, status);
    },
    judgeCaller,
    route: (route) => routes.add(route),
    async sent(messageId, report, at) {
      if (holder.open === undefined || holder.open.closed)
        throw new HostError("account_closed", { channel, account: id });
      if (!isSentReport(messageId, report))
        return accountLog.warn({ plugin }, "the channel reports something of a message that does not exist");
      await options.reportSent(holder.open.live, messageId, report, at);
    },
    debounceMs: options.debounceMs,
    room: options.room,
    calling() {
      const answered = options.contact(channel, id).calling();
      return () => {
        answered();
        if (holder.open !== undefined) holder.open.status = { ...holder.open.status, lastContactAt: now() };
      };
    },
    commands: () => options.commands(channel),
  });
  const { commandPrefix = "/", platformFields } = definition;
  const isCommand = (name: string) => options.commands(channel).some((command) => command.name === name);
  const connection = guardConnection(opened, {
    ...(commandPrefix !== "/" && { readCommand: (text) => readCommandPrefix(text, commandPrefix, isCommand) }),
    plugin,
    ...(definition.identity?.fold && { fold: identity.fold }),
    isWaiting: () => holder.open?.status.state === "waiting",
    name: `${channel}:${id}`,
    timed,
    underWay: calls,
    onFault: createFaultLog({ log: accountLog, plugin, now }),
  });
  const live: LiveAccount = {
    channel,
    plugin,
    id,
    path,
    connection,
    codes: definition.codes ?? {},
    ...(platformFields !== undefined && { platformFields }),
    ...(commandPrefix !== "/" && { writeCommands: (text) => writeCommandPrefix(text, commandPrefix, isCommand) }),
    get capabilities() {
      return created.capabilities;
    },
    get access() {
      return created.access;
    },
    get identity() {
      return created.identity;
    },
    get options() {
      return created.options;
    },
    status: () => created.status,
  };
  const { holds } = options;
  const created: OpenAccount = {
    live,
    connection,
    fingerprint,
    signsInAs,
    stop,
    holds,
    calls,
    routes,
    access,
    identity,
    capabilities,
    options: values,
    status: { state: "connecting" },
    started: false,
    replaced: false,
    closed: false,
  };
  holder.open = created;
  return created;
}

/** Calls a channel's `open`, and checks that the result can be a connection. */
export function openConnection(definition: CalledChannel, account: ChannelAccount): CalledConnection {
  const connection = definition.open(account as never);
  const problem = connectionProblem(connection);
  if (problem !== undefined) throw new Error(problem);
  return connection;
}

const states: readonly string[] = [
  "connecting",
  "connected",
  "waiting",
  "stopped",
  "failed",
] satisfies readonly ChannelStatus["state"][];

function isStatus(status: unknown): status is ChannelStatus {
  if (typeof status !== "object" || status === null) return false;
  const { state, ...reason } = status as Readonly<Record<keyof ChannelStatus, unknown>>;
  return (
    states.includes(state as string) &&
    [reason.code, reason.detail, reason.hint].every((text) => ["string", "undefined"].includes(typeof text))
  );
}

/** An action is for an account that waits for a person. Without one that can be shown, the rest is shown. */
function withAction(
  { action, ...status }: ChannelStatus,
  { log, plugin }: { readonly log: Log; readonly plugin: string },
): ChannelStatus {
  if (action === undefined) return status;
  const problem = status.state === "waiting" ? actionProblem(action) : "the state must be waiting";
  const { code = status.detail === undefined ? "sign_in_needed" : undefined } = status;
  if (problem !== undefined) log.warn({ plugin, problem }, "the channel reports an action that cannot be shown");
  return { ...status, ...(code !== undefined && { code }), ...(problem === undefined && { action }) };
}

function isSentReport(messageId: unknown, report: unknown): boolean {
  if (typeof messageId !== "string" || messageId === "") return false;
  if (report === "delivered" || report === "read") return true;
  const { failed } = (report ?? {}) as { readonly failed?: unknown };
  return typeof failed === "string" && /^[a-z][a-z0-9_]*$/.test(failed);
}

export function logStatus(log: Log, status: ChannelStatus, path: string): void {
  const bad = status.state === "failed" || status.state === "waiting";
  const line = {
    state: status.state,
    ...(bad ? { path } : {}),
    reason: status.code,
    ...(status.identity === undefined ? {} : { identity: status.identity.username ?? status.identity.id }),
  };
  const reason = reasonOfStatus(status);
  if (bad) log.warn(line, reason ?? status.state);
  else log.info(line, reason ?? `channel ${status.state}`);
}
