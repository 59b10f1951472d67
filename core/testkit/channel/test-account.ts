/** An account as the host passes it to `open`. It records everything that the channel reports. */

import { type AccountRoutes, createAccountRoutes, openAccountSecrets, placeOf } from "../../channels/index.ts";
import type { Accepted, Json } from "../../contract/index.ts";
import type { CompleteInbound, CompleteParsed } from "../../host/index.ts";
import { createJudgeCaller } from "../../http/index.ts";
import type { ChannelAccount, ChannelStatus, PluginLog, PluginStore, SentReport } from "../../sdk/contract.ts";

/** An event that the channel submitted, with the id and the lane that the host gives to one without. */
export interface Received extends NonNullable<Parameters<ChannelAccount["receive"]>[1]> {
  readonly id: string;
  readonly lane: string;
  readonly raw: Json;
}

/** What a channel reports of a sent message. */
export interface Reported {
  readonly messageId: string;
  readonly report: SentReport;
  readonly chat?: string;
}

export interface TestAccount {
  readonly account: ChannelAccount;
  readonly received: readonly Received[];
  /** What the channel answers at its addresses. */
  readonly routes: AccountRoutes;
  /** What the channel has reported of sent messages, oldest first. */
  readonly reports: readonly Reported[];
  readonly statuses: readonly ChannelStatus[];
  /** The secrets that the channel got at run time, and set in `account.secrets`. */
  readonly obtained: readonly string[];
  /** Each line with its fields, as text. */
  readonly logged: readonly string[];
  /** What the channel reads in an event. */
  read: (raw: Json) => CompleteParsed;
  /** Awaited before an event is regarded as stored. If it throws, the channel receives the error. */
  beforeStore: (event: Received) => void | Promise<void>;
  /** The decision of the access policy about a sender. */
  check: ChannelAccount["check"];
  /** As at a close: aborts the signal. */
  abort(): void;
}

export function createTestAccount({
  channel,
  options,
  directory,
  now,
  elapsed,
}: {
  readonly channel: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly directory: string;
  readonly now: () => number;
  readonly elapsed: () => number;
}): TestAccount {
  const received: Received[] = [];
  const statuses: ChannelStatus[] = [];
  const reports: Reported[] = [];
  const logged: string[] = [];
  const closing = new AbortController();
  const store = createMemoryStore(now);
  const obtained: string[] = [];
  const secrets = openAccountSecrets({ directory, plugin: channel, remember: (text) => void obtained.push(text) });
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  const judge = createJudgeCaller({ elapsed, clientAddress: () => "127.0.0.1" });
  const routes = createAccountRoutes({
    ...{ plugin: channel, channel, account: "default", judge, now },
    timed: (_, call) => call(),
  });
  const test: TestAccount = {
    received,
    routes,
    statuses,
    reports,
    obtained,
    logged,
    read: () => undefined,
    beforeStore: () => {},
    check: async () => ({ allowed: true }),
    abort: () => closing.abort(),
    account: {
      id: "default",
      options,
      log: recordingLog(logged),
      store,
      secrets,
      signal: closing.signal,
      directory,
      now,
      newId,
      async receive(raw, at = {}): Promise<Accepted> {
        const parsed = test.read(raw);
        const place = await placeOf(isMessage(parsed) ? parsed : undefined, at, {
          lead: `${channel}:default`,
          fold: String,
          newId,
        });
        const event = { raw, ...at, ...place };
        await test.beforeStore(event);
        const duplicate = received.some(({ id }) => id === place.id);
        received.push(event);
        return { eventId: `${channel}-${place.id}`, duplicate };
      },
      check: (raw) => test.check(raw),
      sent: async (messageId, report, at = {}) => void reports.push({ messageId, report, ...at }),
      debounceMs: () => 0,
      room: () => undefined,
      judgeCaller: judge,
      route: (route) => routes.add(route),
      calling: () => () => {},
      status: (status) => void statuses.push(status),
      commands: () => [{ name: "help", summary: "Lists the commands." }],
    },
  };
  return test;
}

/** Whether an event is a message, or another event of a person. */
export function isMessage(parsed: CompleteParsed): parsed is CompleteInbound {
  return parsed !== null && parsed !== undefined && !("silent" in parsed);
}

export function recordingLog(lines: string[]): PluginLog {
  const line = (fields: object, message: string) => void lines.push(`${message} ${renderFields(fields)}`);
  return { trace: line, debug: line, info: line, warn: line, error: line };
}

/** An error's text is in properties that JSON omits. */
export function renderFields(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner instanceof Error ? { ...inner, message: inner.message, stack: inner.stack, cause: inner.cause } : inner,
  );
}

export function createMemoryStore(now: () => number): PluginStore {
  const rows = new Map<string, { readonly text: string; readonly until: number }>();
  const read = (key: string): Json | null => {
    const row = rows.get(key);
    return row === undefined || row.until <= now() ? null : (JSON.parse(row.text) as Json);
  };
  const write = (key: string, value: Json, ttlSeconds: number | undefined) =>
    void rows.set(key, {
      text: JSON.stringify(value),
      until: ttlSeconds === undefined ? Number.POSITIVE_INFINITY : now() + ttlSeconds * 1_000,
    });
  return {
    get: async (key) => read(key),
    set: async (key, value, { ttlSeconds } = {}) => write(key, value, ttlSeconds),
    delete: async (key) => rows.delete(key),
    list: async ({ prefix = "", limit } = {}) =>
      [...rows.keys()]
        .filter((key) => key.startsWith(prefix) && read(key) !== null)
        .sort()
        .slice(0, limit)
        .map((key) => ({ key, value: read(key) })),
    async update(key, change, { ttlSeconds } = {}) {
      const next = change(read(key));
      if (next === null) rows.delete(key);
      else if (next !== undefined) write(key, next, ttlSeconds);
      return read(key);
    },
  };
}
