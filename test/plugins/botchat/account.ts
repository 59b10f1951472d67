/** An account as the host hands it to `open`, with its store in memory and everything that is told to it recorded. */
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, RawEvent } from "service-gateway/sdk";
import type { ChannelAccount, ChannelConnection, ChannelStatus } from "service-gateway/sdk/channel";
import { Value } from "typebox/value";
import { createJudgeCaller } from "../../../core/http/callers.ts";
import { createConnection } from "../../../plugins/botchat/connection.ts";
import { type AccountOptions, accountOptions } from "../../../plugins/botchat/options.ts";
import { onTestFinished } from "../../support/own-test.ts";

export interface Received {
  readonly raw: Json;
  readonly id: string;
  readonly lane: string;
  readonly identity?: string;
  readonly gather?: RawEvent["gather"];
  readonly silent?: string;
}

export interface TestAccount {
  readonly account: ChannelAccount<AccountOptions>;
  readonly received: Received[];
  readonly statuses: ChannelStatus[];
  readonly logs: { readonly level: string; readonly fields: object; readonly message: string }[];
  readonly store: Map<string, Json>;
  readonly close: AbortController;
  /** What the gate answers. */
  onCheck: (raw: Json) => Promise<boolean>;
  /** Replaces what `receive` does before it resolves. */
  onReceive: (received: Received) => Promise<void>;
  /** Awaited before the store takes a value. */
  onStore: () => Promise<void>;
  /** What `room` answers. */
  onRoom: () => Promise<void> | undefined;
  /** The time for the limit of callers, where a test sets it. */
  readonly clock: { at?: number };
  /** Which client a request comes from. */
  clientOf: (request: IncomingMessage) => string;
}

function fillOptions(given: object): AccountOptions {
  return Value.Default(accountOptions, structuredClone(given)) as AccountOptions;
}

export function createTestAccount(
  options: object,
  more: {
    readonly commands?: readonly { name: string; summary: string }[];
    readonly directory?: string;
    readonly debounceMs?: number;
  } = {},
): TestAccount {
  const directory = more.directory ?? mkdtempSync(join(tmpdir(), "botchat-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const received: Received[] = [];
  const statuses: ChannelStatus[] = [];
  const logs: TestAccount["logs"] = [];
  const store = new Map<string, Json>();
  const close = new AbortController();
  const log = (level: string) => (fields: object, message: string) => void logs.push({ level, fields, message });
  let ids = 0;
  const test: TestAccount = {
    received,
    onCheck: async () => true,
    statuses,
    logs,
    store,
    close,
    onReceive: async () => {},
    onStore: async () => {},
    onRoom: () => undefined,
    clock: {},
    clientOf: () => "127.0.0.1",
    account: {
      id: "default",
      options: fillOptions(options),
      log: { trace: log("trace"), debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
      secrets: { get: async () => undefined, set: async () => {}, delete: async () => false },
      store: {
        get: async (key) => store.get(key) ?? null,
        set: async (key, value) => {
          await test.onStore();
          store.set(key, value);
        },
        delete: async (key) => store.delete(key),
        list: async () => [...store].map(([key, value]) => ({ key, value })),
        update: async () => null,
      },
      signal: close.signal,
      directory,
      now: () => Date.now(),
      newId: () => String(++ids),
      sent: async () => {},
      async receive(raw, { id = "", lane = "", ...at } = {}) {
        const each = { raw, id, lane, ...at };
        await test.onReceive(each);
        received.push(each);
        return { eventId: id, duplicate: false };
      },
      status: (status) => void statuses.push(status),
      check: async (raw) =>
        (await test.onCheck(raw))
          ? { allowed: true }
          : { allowed: false, code: "sender_not_allowed", notice: "You may not." },
      route() {},
      judgeCaller: createJudgeCaller({
        elapsed: () => test.clock.at ?? Date.now(),
        clientAddress: (request) => test.clientOf(request),
      }),
      debounceMs: () => more.debounceMs ?? 0,
      room: () => test.onRoom(),
      calling: () => () => {},
      commands: () => more.commands ?? [],
    },
  };
  return test;
}

/** Opens a connection that is closed when the test ends. */
export function openConnection(test: TestAccount): ChannelConnection {
  const connection = createConnection(test.account);
  onTestFinished(async () => {
    test.close.abort();
    await connection.close();
  });
  return connection;
}

/** Resolves when the condition holds. */
export async function until(condition: () => boolean, what: string, ms = 20_000): Promise<void> {
  const end = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
