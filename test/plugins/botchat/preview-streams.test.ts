/** Streams of every length and speed through preview and outbox, in a chat where things go wrong; the clock is the test's. */
import { type Address, ChannelError, type Part } from "service-gateway/sdk";
import { Value } from "typebox/value";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHooks } from "../../../core/hooks.ts";
import { admission, deliver } from "../../../core/path/delivery.ts";
import { createTrace } from "../../../core/path/ending.ts";
import { renderSayings } from "../../../core/path/formatting.ts";
import type { LiveAccount } from "../../../core/path/live-account.ts";
import type { ChannelConnection } from "../../../core/sdk.ts";
import type { OutboxRow, Store } from "../../../core/state/store.ts";
import { createLimits } from "../../../plugins/botchat/limits.ts";
import { type AccountOptions, accountOptions } from "../../../plugins/botchat/options.ts";
import { createPreview } from "../../../plugins/botchat/preview.ts";
import { renderReply } from "../../../plugins/botchat/render.ts";
import { createSender } from "../../../plugins/botchat/send.ts";
import { createFakeChat, type FakeCall, type Fault } from "./fake-chat.ts";
import { never, reply } from "./platform.ts";

const now = () => Date.now();
const limits = { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 };

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/** The same numbers in every run. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Evenly spread over the orders of magnitude. */
const between = (least: number, most: number, chance: number) => Math.round(least * (most / least) ** chance);

const pieces = [
  "word ",
  "another one, ",
  "**bold words** ",
  "`code` ",
  "a sentence ends. ",
  "\n\n",
  "\n- a point\n",
  "_slanted_ ",
  "~~no~~ ",
  "😀 ",
];

function textOf(length: number, chance: () => number): string {
  let text = "";
  while (text.length < length) text += pieces[Math.floor(chance() * pieces.length)];
  return text.slice(0, length);
}

interface Room {
  readonly chat: ReturnType<typeof createFakeChat>;
  readonly settings: AccountOptions;
  readonly pace: ReturnType<typeof createLimits>;
  readonly address: Address;
}

function openRoom(
  options: { readonly chat?: string; readonly thread?: string; readonly settings?: object; readonly latency?: () => number } = {},
): Room {
  const { chat = "1001", thread, settings = {}, latency = () => 20 } = options;
  return {
    chat: createFakeChat({ now, latency, limits }),
    settings: Value.Default(accountOptions, settings) as AccountOptions,
    pace: createLimits({ now, limits }),
    address: { channel: "botchat", account: "default", chat, ...(thread !== undefined && { thread }) },
  };
}

const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function openPreview(room: Room, more: { readonly resume?: readonly string[]; readonly trigger?: string; readonly thread?: string } = {}) {
  const { thread, resume = [], trigger } = more;
  const address = thread === undefined ? room.address : { ...room.address, thread };
  return createPreview({
    ...room,
    address,
    api: async () => room.chat.api("preview"),
    log,
    resume,
    onMessage: () => {},
    ...(trigger !== undefined && { trigger }),
  });
}

/** Time passes until it is done. */
async function finished<T>(work: Promise<T>): Promise<T> {
  let done = false;
  const ended = work.finally(() => {
    done = true;
  });
  ended.catch(() => {});
  while (!done) await vi.advanceTimersByTimeAsync(100);
  return ended;
}

/** What the outbox does with an answer: the real station, with a store that only says yes. */
async function answer(room: Room, text: string, previews: readonly string[]) {
  const hooks = createHooks({ onObserverError: () => {} });
  const sender = createSender(room.chat.api("outbox"), { keep: async () => {}, of: async () => undefined });
  const store = { sent: yes, sending: yes, notSent: yes, unsendable: yes, decide: yes } as unknown as Store;
  hooks.tap("test", "delivery", (part: Part, address, signal) => {
    const done = room.pace.sending(address.chat);
    return sender.send(part, address, signal).finally(done);
  });
  const connection = { render: (given: typeof said) => renderReply(given, room.settings, { chat: "1" }) } as unknown as ChannelConnection;
  const said = reply(text);
  const rows = renderSayings(said, room.address, { connection, previews, inPlace: true }).map(
    (saying, index): OutboxRow => ({
      ...saying,
      id: index + 1,
      unitId: "unit",
      index,
      state: index === 0 ? "sending" : "waiting",
      attempts: 0,
      doubts: 0,
    }),
  );
  const api = room.chat.api("outbox");
  const remove = async (messageId: string) => {
    await api.call("deleteMessage", { chat_id: room.address.chat, message_id: Number(messageId) }).catch((error: unknown) => {
      if (!(error instanceof ChannelError && error.reason === "message_gone")) throw error;
    });
  };
  const admit: ChannelConnection["admit"] = (part, { chat }, signal) => room.pace.admit(chat, part.replaces === undefined ? 1 : 0, signal);
  const account = () => ({ connection: { remove, admit }, options: room.settings }) as unknown as LiveAccount;
  const sending = { hooks, store, trace: createTrace(now), now, random: () => 0.5, signal: never, resumed: false, account };
  const first = rows[0] && admission(rows[0], sending);
  return await deliver(rows, { ...sending, admission: first });
}

const yes = async () => {};

/** Calls that the chat counted, those of unknown fate included. */
const edits = (calls: readonly FakeCall[]) =>
  calls.filter(({ method, fate }) => method !== "deleteMessage" && (fate === "done" || fate === "unknown"));

const unknownSends = ({ chat }: Room, who?: string) =>
  chat.calls.filter(({ method, fate, by }) => method === "sendMessage" && fate === "unknown" && by === (who ?? by)).length;

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

describe("a preview", () => {
  test("sends nothing more when nobody knows whether its message arrived: one of two would stay for ever", async () => {
    const room = openRoom();
    room.chat.fault = (method) => (method === "sendMessage" ? "reset-after" : undefined);
    const preview = openPreview(room);
    for (let count = 10; count < 20; count += 1) {
      preview.update(words(count));
      await vi.advanceTimersByTimeAsync(2_000);
    }
    expect(room.chat.calls).toHaveLength(1);
    expect(await preview.close()).toEqual([]);
  });

  test("repeats an edit whatever became of it, and gives up after three failures in a row", async () => {
    const room = openRoom();
    const fates: (Fault | undefined)[] = [undefined, "reset-after", "refuse", undefined, "refuse", "reset-before", "refuse"];
    room.chat.fault = () => fates.shift();
    const preview = openPreview(room);
    for (let count = 10; count < 60; count += 1) {
      preview.update(words(count));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(room.chat.calls.map(({ fate }) => fate)).toEqual(["done", "unknown", "refused", "done", "refused", "lost", "refused"]);
    expect(await preview.close()).toEqual(["1"]);
  });

  test("keeps to one edit a second for all topics of a chat", async () => {
    const room = openRoom({ latency: () => 300 });
    const previews = ["5", "6", "7"].map((thread) => openPreview(room, { thread }));
    for (let count = 10; count < 40; count += 1) {
      for (const preview of previews) preview.update(words(count));
      await vi.advanceTimersByTimeAsync(400);
    }
    const times = room.chat.calls.map(({ at }) => at);
    expect(times.length).toBeGreaterThan(5);
    for (const [index, at] of times.entries()) if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(new Set([...room.chat.messages.values()].map(({ thread }) => thread))).toEqual(new Set(["5", "6", "7"]));
  });

  test("is told with a sound by its first message only: the edit that makes it the answer has none", async () => {
    const room = openRoom({ settings: { textChunkLimit: 50 } });
    const preview = openPreview(room);
    preview.update(words(30));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([...room.chat.messages.values()].map(({ silent }) => silent)).toEqual([false, true, true, true, true]);
  });

  test.each([
    ["off", [undefined, undefined]],
    ["first", [77, undefined]],
    ["all", [77, 77]],
  ] as const)("with replyToMode %s its messages reply to the trigger as the answer's will: %j", async (replyToMode, replies) => {
    const room = openRoom({ settings: { replyToMode, textChunkLimit: 100 } });
    const preview = openPreview(room, { trigger: "77" });
    preview.update(words(20));
    await vi.advanceTimersByTimeAsync(3_000);
    expect([...room.chat.messages.values()].map(({ replyTo }) => replyTo)).toEqual(replies);
  });

  test.each([
    ["-1001", "1", undefined],
    ["-1001", "5", "5"],
    ["1001", "1", "1"],
  ])("in chat %s, thread %s is sent with the thread %s: General has no number, and only groups have it", async (chat, thread, named) => {
    const room = openRoom({ chat });
    const preview = openPreview(room, { thread });
    preview.update(words(10));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(room.chat.messages.get("1")?.thread).toBe(named);
    await preview.close();
  });

  test("that hangs holds the answer up for five seconds", async () => {
    const room = openRoom();
    room.chat.fault = () => "hang";
    const preview = openPreview(room);
    preview.update(words(10));
    await vi.advanceTimersByTimeAsync(500);
    const began = now();
    expect(await finished(preview.close())).toEqual([]);
    expect(now() - began).toBeLessThanOrEqual(5_100);
  });
});

describe("200 streams", () => {
  const faults: readonly Fault[] = ["flood", "refuse", "reset-before", "reset-after"];

  /** One stream to its end. */
  async function stream(seed: number) {
    const chance = createChance(seed);
    const length = between(1, 50_000, chance());
    const group = chance() < 0.3;
    const perSecond = Math.max(between(1, 500, chance()) * 4, length / 15);
    const room = openRoom({
      chat: group ? "-1001" : "1001",
      settings: { streamMode: chance() < 0.2 ? "block" : "partial", textChunkLimit: chance() < 0.2 ? 1_000 : 4_000 },
      latency: () => 5 + 200 * chance(),
    });
    const faulty = chance() < 0.5 ? chance() * 0.3 : 0;
    room.chat.fault = () => (chance() < faulty ? faults[Math.floor(chance() * faults.length)] : undefined);
    const text = textOf(length, chance);
    const preview = openPreview(room);
    const tick = Math.max(20, 1_000 / perSecond);
    for (let shown = 0; shown < length; ) {
      shown = Math.min(length, shown + Math.ceil((perSecond * tick) / 1_000));
      preview.update(text.slice(0, shown));
      await vi.advanceTimersByTimeAsync(tick);
    }
    const previews = await finished(preview.close());
    const result = await finished(answer(room, text, previews));
    const limited = room.chat.calls.filter(({ fate }) => fate === "limited").length;
    const wanted = renderReply(reply(text), room.settings, { chat: "1" }).map(({ body }) =>
      String((body as { payload: { text: string } }).payload.text),
    );
    return { room, wanted, limited, result, doubtful: unknownSends(room) };
  }

  test.each(Array.from({ length: 20 }, (_, part) => part))("part %i: nothing is provoked, and the answer is there once", async (part) => {
    for (let seed = part * 10 + 1; seed <= part * 10 + 10; seed += 1) {
      const { room, wanted, limited, result, doubtful } = await stream(seed);
      const told = `seed ${seed}`;
      expect(limited, told).toBe(0);
      const times = edits(room.chat.calls).map(({ at }) => at);
      for (const [index, at] of times.entries()) if (index > 0) expect(at - (times[index - 1] ?? 0), told).toBeGreaterThanOrEqual(1_000);
      const sends = room.chat.calls.filter(({ method, fate }) => method === "sendMessage" && fate === "done");
      expect(sends.length, told).toBeLessThanOrEqual(wanted.length + 1);
      expect(unknownSends(room, "preview"), told).toBeLessThanOrEqual(1);
      // Twice in doubt, it is not sent a third time.
      expect(result.failure, told).toBe(doubtful > 1 ? result.failure : undefined);
      const seen = [...room.chat.messages.values()].map(({ html }) => html);
      // Exactly the answer, but for messages of which the platform never said that they are there.
      if (doubtful === 0) expect(seen, told).toEqual(wanted);
      else {
        expect(seen, told).toEqual(expect.arrayContaining(wanted));
        expect(seen.length - wanted.length, told).toBeLessThanOrEqual(doubtful);
      }
    }
  });
});
