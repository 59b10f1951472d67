/**
 * A whole gateway in this process, for tests of what a test host hides or does by itself: the gateway object
 * (readiness, waiting sends, events that are handed in), a gateway that stops and starts later, on a configuration or a
 * state that was changed meanwhile, clocks that are set back, deadlines on played timers of vitest, other stores,
 * previews, and accounts that report a state. All others use `createTestHost` of the testkit.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, type Gateway, type GatewayOptions } from "../../core/gateway/gateway.ts";
import { inboundProblem } from "../../core/host/answers.ts";
import {
  type ChannelAccount,
  type ChannelInbound,
  type ChannelStatus,
  defineChannel,
  type Json,
  type Part,
  type PluginDefinition,
  type Receipt,
  Type,
} from "../../core/sdk/contract.ts";
import type { EventReport } from "../../core/state/report.ts";
import { openSqliteReader } from "../../core/state/sqlite/index.ts";
import type { TestHostOptions } from "../../core/testkit/host/options.ts";
import { testEngine } from "../../core/testkit/host/start.ts";
import { temporaryDirectory } from "./directory.ts";

export interface Sent {
  readonly chat: string;
  readonly thread?: string;
  readonly text: string;
  readonly replaces?: string;
}

export interface Loopback {
  readonly plugin: PluginDefinition;
  readonly sent: readonly Sent[];
  readonly removed: readonly string[];
  /** Called before a part counts as sent; throw to fail it. */
  beforeSend: (part: Part) => void | Promise<void>;
  /** A person writes; resolves when the event is committed. */
  say(
    text: string,
    from?: {
      readonly id?: string;
      readonly sender?: string;
      readonly chat?: string;
      readonly thread?: string;
      readonly group?: boolean;
      readonly mention?: boolean;
    },
  ): Promise<string>;
  /** Another call than a send succeeds. */
  answers(): void;
  /** The account says how it is. */
  report(status: ChannelStatus): void;
  /** Resolves when so many parts were sent. */
  sentCount(count: number): Promise<void>;
}

/** An event that the channel made itself. */
function isInbound(raw: Json): boolean {
  return typeof raw === "object" && raw !== null && "kind" in raw && inboundProblem(raw) === undefined;
}

const maxChars = 40_000;
/** Whole characters, so that none is cut in two. */
const longestMessage = new RegExp(`[\\s\\S]{1,${maxChars}}`, "gu");

/** A channel without a platform: what is said goes in, what is sent is kept. */
export function createLoopback(
  options: { readonly id?: string; readonly previews?: boolean; readonly connects?: boolean } = {},
): Loopback {
  const { id = "loopback", previews = false, connects = true } = options;
  const sent: Sent[] = [];
  const removed: string[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let account: ChannelAccount<object> | undefined;
  let updates = 0;
  let messages = 0;
  const note = (entry: Sent): Receipt => {
    sent.push(entry);
    messages += 1;
    for (const waiter of waiting) if (sent.length >= waiter.count) waiter.resolve();
    return { messageId: entry.replaces ?? `m${messages}` };
  };
  const loopback: Loopback = {
    sent,
    removed,
    beforeSend: () => {},
    plugin: defineChannel({
      id,
      version: "1.0.0",
      host: "^0.2.0",
      options: Type.Object({}),
      capabilities: {
        maxChars,
        markup: "plain",
        edits: previews,
        threads: true,
        reactions: false,
        media: false,
        buttons: false,
        typing: false,
        menu: false,
      },
      open(opened) {
        account = opened;
        return {
          async start() {
            loopback.answers();
            if (connects) opened.status({ state: "connected", identity: { id: "bot", username: "loop_bot" } });
          },
          parse: (raw) => (isInbound(raw) ? (raw as unknown as ChannelInbound) : undefined),
          render: (reply) =>
            (reply.text.match(longestMessage) ?? []).map((text) => ({
              kind: "text",
              chars: [...text].length,
              body: text,
            })),
          async send(part, address) {
            await loopback.beforeSend(part);
            return note({
              chat: address.chat,
              ...(address.thread === undefined ? {} : { thread: address.thread }),
              text: String(part.body),
              ...(part.replaces === undefined ? {} : { replaces: part.replaces }),
            });
          },
          async remove(messageId) {
            removed.push(messageId);
          },
          async close() {},
        };
      },
    }),
    answers: () => account?.calling()(),
    async say(text, from = {}) {
      if (account === undefined) throw new Error("the channel is not open");
      updates += 1;
      const { sender = "7", chat = sender } = from;
      const inbound: ChannelInbound = {
        kind: "message",
        chat: {
          id: chat,
          kind: from.group === true ? "group" : "direct",
          ...(from.thread === undefined ? {} : { thread: from.thread }),
        },
        sender: { id: sender, name: `Person ${sender}` },
        text,
        media: [],
        mention: from.mention ?? false,
        timestamp: account.now(),
        messageId: `in${updates}`,
      };
      const place = from.thread === undefined ? chat : `${chat}:${from.thread}`;
      const accepted = await account.receive(inbound as unknown as Json, {
        id: from.id ?? String(updates),
        lane: `${id}:default:${place}`,
      });
      return accepted.eventId;
    },
    report: (status) => account?.status(status),
    sentCount: (count) =>
      new Promise((resolve) => {
        if (sent.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
  return loopback;
}

/** An engine that answers with what the function says, as that of a test host does. */
export const createEngine = (run: NonNullable<TestHostOptions["answer"]>): PluginDefinition =>
  testEngine(run, "scripted");

export const repeat = createEngine((turn) => `heard: ${turn.inbound.text}`);

export interface TestGateway {
  readonly gateway: Gateway;
  readonly directory: string;
  readonly configFile: string;
  /** The event's report, once it is settled. */
  settled(eventId: string): Promise<EventReport>;
}

export async function startGateway(options: {
  readonly directory?: string;
  readonly config?: object;
  readonly plugins?: readonly PluginDefinition[];
  readonly gateway?: Partial<GatewayOptions>;
}): Promise<TestGateway> {
  const directory = options.directory ?? temporaryDirectory();
  const configFile = join(directory, "config.jsonc");
  writeFileSync(
    configFile,
    JSON.stringify({ gateway: { port: 0, drainSeconds: 2 }, state: { dir: "state" }, ...options.config }),
  );
  const gateway = await createGateway({
    configFile,
    environment: {},
    bundled: false,
    plugins: options.plugins ?? [],
    writerThread: false,
    ...options.gateway,
  });
  return { gateway, directory, configFile, settled: (eventId) => waitForEnd(gateway.stateDirectory, eventId) };
}

/** Reads the state as another process would, until the event has its end. */
async function waitForEnd(stateDirectory: string, eventId: string): Promise<EventReport> {
  const reader = await openSqliteReader({ directory: stateDirectory, now: Date.now });
  try {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
      const report = await reader.event(eventId);
      if (report?.state === "settled") return report;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`event ${eventId} did not end: ${JSON.stringify(await reader.event(eventId))}`);
  } finally {
    await reader.close();
  }
}
