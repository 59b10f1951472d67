/** What waits for whom, with a clock of the test's own. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLimits, type Limits } from "../../../plugins/botchat/send/limits.ts";
import { createLimiter } from "../../../plugins/playground/platform/limits.ts";
import { never } from "./platform.ts";

const usual = { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 };
const now = () => Date.now();

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/** Asks, and notes when it was let go. */
function ask(
  limits: Limits,
  chat: string,
  went: (readonly [string, number])[],
  { messages = 1, joins = false, signal = never, name = chat } = {},
): void {
  const go = () => void went.push([name, now() - 1_000_000]);
  const wait = limits.admit(chat, { messages, joins }, signal);
  if (wait === undefined) go();
  else void wait.then(go);
}

describe("the limits for messages", () => {
  test("space messages of one chat a second apart, in order, without delaying other chats", async () => {
    const limits = createLimits({ now, limits: usual });
    const went: (readonly [string, number])[] = [];
    for (const name of ["one", "two", "three"]) ask(limits, "7", went, { name });
    ask(limits, "8", went, { name: "other" });
    expect(went).toEqual([
      ["one", 0],
      ["other", 0],
    ]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(went.slice(2)).toEqual([
      ["two", 1_050],
      ["three", 2_100],
    ]);
  });

  test("count edits with the messages of their chat, and a slow call from its end", async () => {
    const limits = createLimits({ now, limits: usual });
    const went: (readonly [string, number])[] = [];
    ask(limits, "7", went);
    const done = limits.sending("7");
    await vi.advanceTimersByTimeAsync(400);
    done();
    ask(limits, "7", went, { messages: 0, name: "edit" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(went).toEqual([
      ["7", 0],
      ["edit", 1_450],
    ]);
  });

  test("count every item of an album", async () => {
    const limits = createLimits({ now, limits: { ...usual, perChatPerSecond: 0 } });
    const went: (readonly [string, number])[] = [];
    for (const name of ["one", "two", "three"]) ask(limits, "-7", went, { messages: 8, name });
    await vi.advanceTimersByTimeAsync(70_000);
    expect(went).toEqual([
      ["one", 0],
      ["two", 0],
      ["three", 61_000],
    ]);
  });

  test("let the text below an album follow at once, unless the platform demanded a wait", async () => {
    const limits = createLimits({ now, limits: usual });
    const went: (readonly [string, number])[] = [];
    ask(limits, "7", went, { messages: 3, name: "album" });
    ask(limits, "7", went, { joins: true, name: "text" });
    ask(limits, "7", went, { name: "next" });
    await vi.advanceTimersByTimeAsync(2_000);
    limits.hold("7", 3_000);
    ask(limits, "7", went, { joins: true, name: "held" });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(went).toEqual([
      ["album", 0],
      ["text", 0],
      ["next", 1_050],
      ["held", 5_000],
    ]);
  });

  test("can be disabled, but a flood wait still applies", async () => {
    const limits = createLimits({ now, limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 } });
    const went: (readonly [string, number])[] = [];
    for (let count = 0; count < 100; count += 1) ask(limits, "-7", went);
    expect(went).toHaveLength(100);
    limits.hold("-7", 3_000);
    ask(limits, "-7", went);
    expect(limits.held("-7")).toBe(3_000);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(went).toHaveLength(100);
    await vi.advanceTimersByTimeAsync(1);
    expect(went).toHaveLength(101);
    expect(limits.held("-7")).toBe(0);
  });

  test("apply a flood wait to its chat and its waiting messages, and two chats at once to the whole bot", async () => {
    const limits = createLimits({ now, limits: usual });
    const went: (readonly [string, number])[] = [];
    ask(limits, "7", went);
    ask(limits, "7", went, { name: "waits" });
    limits.hold("7", 5_000);
    ask(limits, "8", went);
    limits.hold("8", 4_000);
    ask(limits, "9", went);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(went).toEqual([
      ["7", 0],
      ["8", 0],
      ["9", 4_000],
      ["waits", 5_000],
    ]);
  });

  test("remove an aborted message from the queue and let no message wait for a closed account", async () => {
    const limits = createLimits({ now, limits: usual });
    const went: (readonly [string, number])[] = [];
    const away = new AbortController();
    ask(limits, "7", went);
    ask(limits, "7", went, { signal: away.signal, name: "away" });
    ask(limits, "7", went, { name: "next" });
    away.abort();
    await vi.advanceTimersByTimeAsync(1_050);
    expect(went.map(([name]) => name)).toEqual(["7", "away", "next"]);
    ask(limits, "7", went, { name: "late" });
    limits.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(went.at(-1)).toEqual(["late", 1_050]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("previews and typing indicators", () => {
  test("yield to waiting messages and leave five of a group's twenty sends to answers", async () => {
    const limits = createLimits({ now, limits: usual });
    expect(limits.delay("-7")).toBe(0);
    for (let count = 0; count < 15; count += 1) {
      ask(limits, "-7", []);
      await vi.advanceTimersByTimeAsync(1_050);
    }
    expect(limits.delay("-7")).toBeGreaterThan(40_000);
    ask(limits, "-7", []);
    ask(limits, "-7", []);
    expect(limits.delay("8")).toBe(0);
    await vi.advanceTimersByTimeAsync(1_050);
    expect(limits.delay("-7")).toBeGreaterThan(40_000);
  });

  test("count in their chat, so the next message waits for its second", async () => {
    const limits = createLimits({ now, limits: usual });
    const went: (readonly [string, number])[] = [];
    const ended = limits.used("7", 1_000, 1);
    await vi.advanceTimersByTimeAsync(300);
    ended();
    ask(limits, "7", went, { messages: 0 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(went).toEqual([["7", 1_350]]);
    expect(limits.delay("7")).toBe(0);
  });
});

describe("the limit of the bot", () => {
  /** Both hold the platform's limits; a call arrives somewhere on its way, and is answered after as long again. */
  function openBot() {
    const limits = createLimits({ now, limits: usual });
    const limiter = createLimiter(usual, now);
    const call = async (chat: string, ms: number, ended: () => void) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      limiter.spend(1, chat, false);
      await new Promise((resolve) => setTimeout(resolve, ms));
      ended();
    };
    return { limits, call };
  }

  test("is shared by the edits of many previews without a refusal, and a message waits for one slot only", async () => {
    const { limits, call } = openBot();
    const edits: Promise<void>[] = [];
    const preview = (chat: string) => {
      const delay = limits.delay(chat);
      if (delay === 0) edits.push(call(chat, 2 + ((edits.length * 37) % 100), limits.used(chat, 1_000, 0)));
      if (now() < 1_020_000) setTimeout(preview, Math.max(delay, 1), chat);
    };
    for (let chat = 1; chat <= 90; chat += 1) preview(String(chat));
    await vi.advanceTimersByTimeAsync(10_000);
    const asked = now();
    let waited = Number.NaN;
    void limits.admit("200", { messages: 1, joins: false }, never)?.then(() => {
      waited = now() - asked;
    });
    await vi.advanceTimersByTimeAsync(15_000);
    await Promise.all(edits);
    expect(waited).toBeLessThan(1_300);
    expect(edits.length).toBeGreaterThan(20 * 24);
  });

  test("counts arrivals: thirty slow calls and thirty fast ones a second later all keep the interval", async () => {
    const { limits, call } = openBot();
    const calls: Promise<void>[] = [];
    for (let chat = 1; chat <= 60; chat += 1) {
      const name = String(chat);
      const send = async () => {
        await limits.admit(name, { messages: 1, joins: false }, never);
        await call(name, chat <= 30 ? 400 : 5, limits.sending(name));
      };
      calls.push(send());
    }
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(calls);
  });
});

test("ten thousand messages to people and groups are sent at the maximum rate without a refusal", async () => {
  const limits = createLimits({ now, limits: usual });
  const limiter = createLimiter(usual, now);
  let sent = 0;
  const send = async (chat: string): Promise<void> => {
    await limits.admit(chat, { messages: 1, joins: false }, never);
    const done = limits.sending(chat);
    // On its way for a while, which is another one each time.
    await new Promise((resolve) => setTimeout(resolve, 5 + ((sent * 7) % 30)));
    limiter.spend(1, chat, chat.startsWith("-"));
    sent += 1;
    done();
  };
  const began = now();
  const chats = Array.from({ length: 1_000 }, (_, index) => (index % 10 === 0 ? `-${index + 1}` : String(index + 1)));
  const all = Promise.all(
    chats.map(async (chat) => {
      for (let count = 0; count < 10; count += 1) await send(chat);
    }),
  );
  let done = false;
  const ended = all.finally(() => {
    done = true;
  });
  while (!done) await vi.advanceTimersByTimeAsync(1_000);
  await ended;
  expect(sent).toBe(10_000);
  expect((now() - began) / 1_000).toBeLessThan((10_000 / 30) * 1.06 + 5);
});
