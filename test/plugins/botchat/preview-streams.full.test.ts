/**
 * The preview's pace in one chat, and streams of every length and speed through preview and outbox; the clock is
 * played.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startClock } from "../../../bench/soak/streams/clock.ts";
import type { Fault } from "../../../bench/soak/streams/fake-chat.ts";
import { type ChatCall, judge, type Outcome } from "../../../bench/soak/streams/judge.ts";
import { openPreview, openRoom } from "../../../bench/soak/streams/room.ts";
import { runStream } from "../../../bench/soak/streams/stream.ts";

const now = () => Date.now();

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

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

describe("a preview", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  test("sends nothing more if its message may have arrived, so no duplicate remains", async () => {
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

  test("repeats an edit of any fate and gives up after three consecutive failures", async () => {
    const room = openRoom();
    const fates: (Fault | undefined)[] = [
      undefined,
      "reset-after",
      "refuse",
      undefined,
      "refuse",
      "reset-before",
      "refuse",
    ];
    room.chat.fault = () => fates.shift();
    const preview = openPreview(room);
    for (let count = 10; count < 60; count += 1) {
      preview.update(words(count));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(room.chat.calls.map(({ fate }) => fate)).toEqual([
      "done",
      "unknown",
      "refused",
      "done",
      "refused",
      "lost",
      "refused",
    ]);
    expect(await preview.close()).toEqual(["1"]);
  });

  test("makes at most one edit a second for all topics of a chat", async () => {
    const room = openRoom({ latency: () => 300 });
    const previews = ["5", "6", "7"].map((thread) => openPreview(room, { thread }));
    for (let count = 10; count < 40; count += 1) {
      for (const preview of previews) preview.update(words(count));
      await vi.advanceTimersByTimeAsync(400);
    }
    const times = room.chat.calls.map(({ at }) => at);
    expect(times.length).toBeGreaterThan(5);
    for (const [index, at] of times.entries())
      if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(new Set([...room.chat.messages.values()].map(({ thread }) => thread))).toEqual(new Set(["5", "6", "7"]));
  });

  test("makes a sound only for its first message, not for the edit that completes the answer", async () => {
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
  ] as const)(
    "with replyToMode %s replies to the same messages as the answer will: %j",
    async (replyToMode, replies) => {
      const room = openRoom({ settings: { replyToMode, textChunkLimit: 100 } });
      const preview = openPreview(room, { trigger: "77" });
      preview.update(words(20));
      await vi.advanceTimersByTimeAsync(3_000);
      expect([...room.chat.messages.values()].map(({ replyTo }) => replyTo)).toEqual(replies);
    },
  );

  test.each([
    ["-1001", "1", undefined],
    ["-1001", "5", "5"],
    ["1001", "1", "1"],
  ])(
    "in chat %s with thread %s is sent with thread %s: General has no number, and only groups have one",
    async (chat, thread, named) => {
      const room = openRoom({ chat });
      const preview = openPreview(room, { thread });
      preview.update(words(10));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(room.chat.messages.get("1")?.thread).toBe(named);
      await preview.close();
    },
  );

  test("that hangs delays the answer by at most five seconds", async () => {
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

/** The others, some of which are slow for hours, are run by `npm run soak -- --streams 200`. */
describe("150 streams at realistic rates", () => {
  const atOnce = 15;

  test.each(Array.from({ length: 150 / atOnce }, (_, part) => part * atOnce + 1))(
    "from seed %i never exceed a limit, and each answer arrives once",
    async (first) => {
      const clock = startClock();
      try {
        for (let seed = first; seed < first + atOnce; seed += 1)
          expect(judge((await runStream(seed, clock)).outcome), `seed ${seed}`).toEqual([]);
      } finally {
        clock.end();
      }
    },
  );
});

describe("the judge reports violations of a stream", () => {
  const call = (at: number, more: Partial<Outcome["calls"][number]> = {}) =>
    ({ method: "editMessageText", at, by: "preview", fate: "done", messageId: "1", ...more }) as const;
  const good: Outcome = {
    calls: [call(1_000), call(2_000)],
    shown: ["a", "b"],
    wanted: ["a", "b"],
    failure: undefined,
    tookMs: 2_000,
  };
  const send = (by: string, fate: ChatCall["fate"] = "done") => call(9_000, { method: "sendMessage", by, fate });

  test.each([
    [["1 calls were too fast for the platform"], { calls: [call(1_000, { fate: "limited" })] }],
    [
      ["1 calls came less than a second after the one before"],
      { calls: [call(1_000), call(1_900, { fate: "unknown" })] },
    ],
    [
      ["4 messages were sent for an answer of 2"],
      { calls: [0, 1, 2, 3].map((index) => ({ ...send("outbox"), at: index * 1_000 })) },
    ],
    [["the answer failed: refused"], { failure: "refused" }],
    [["a message of the answer is missing"], { shown: ["a"] }],
    [["1 messages are there that are none of the answer, and 0 were in doubt"], { shown: ["a", "b", "a"] }],
    [["the messages of the answer are in another order"], { shown: ["b", "a"] }],
    [[], { calls: [send("outbox", "unknown")], shown: ["a", "a", "b"] }],
    [
      [],
      {
        calls: [send("outbox", "unanswered"), send("outbox", "unanswered")],
        shown: ["b"],
        failure: "send_fate_unknown",
      },
    ],
    [["a message of the answer is missing"], { calls: [send("outbox", "unanswered")], shown: ["b"] }],
    [
      ["the preview sent again after a message of unknown fate"],
      { calls: [send("preview", "unanswered"), send("preview", "unknown")] },
    ],
  ])("%j", (violations, wrong) => {
    expect(judge(good)).toEqual([]);
    expect(judge({ ...good, ...wrong })).toEqual(violations);
  });
});
