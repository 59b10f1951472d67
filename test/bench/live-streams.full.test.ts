/**
 * A few live streams of the soak: answers that grow in several chats at once, over real HTTP, and a platform that keeps
 * its limits.
 */
import { expect, test } from "vitest";
import { inWorkshop } from "../../bench/cases/processes.ts";
import { streamLive } from "../../bench/soak/streams/live/run.ts";

/**
 * Eight messages in five seconds, and nothing goes wrong: without limits, what the preview has not shown by then goes
 * out at once.
 */
const long = 14_822;
/** Direct chats and groups, partial and in blocks, short and long messages; up to a third of the calls goes wrong. */
const seeds = [31, 73, 344, 472, 488, 567, 652, 1554, 1577, 1635, 1775];

const stream = (spoilt: object, some: readonly number[]) =>
  inWorkshop((workshop) => streamLive(workshop, { seeds: some, atOnce: some.length, tell: () => {}, spoilt }));

test.concurrent("each reply arrives exactly once despite faults; the bot never exceeds the platform's rate limits", {
  timeout: 90_000,
}, async () => {
  const { violations, outcomes } = await stream({}, seeds);
  expect(violations).toEqual([]);
  // Which of them chance brings depends on how many calls the machine makes in the time.
  const troubles = new Set(outcomes.flatMap(({ calls }) => calls.map(({ fate }) => fate)));
  troubles.delete("done");
  expect(troubles.size).toBeGreaterThanOrEqual(3);
});

test.concurrent("a bot that ignores the rate limits is detected", async () => {
  const { violations } = await stream({ limits: { perChatPerSecond: 0, perBotPerSecond: 0, perGroupPerMinute: 0 } }, [
    long,
  ]);
  expect(violations.join("\n")).toMatch(/too fast for the platform/);
});
