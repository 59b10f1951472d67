import { expect, test } from "vitest";
import { createBackoff } from "../../../plugins/botchat/wire/backoff.ts";

test("waits grow by 1.8 up to the maximum, plus up to a quarter, and restart after a success", () => {
  const backoff = createBackoff({ minMs: 2_000, maxMs: 30_000 });
  const wanted = [2_000, 3_600, 6_480, 11_664, 20_995, 30_000, 30_000];
  for (const least of wanted) {
    const wait = backoff.next();
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(Math.ceil(least * 1.25));
  }
  backoff.reset();
  expect(backoff.next()).toBeLessThanOrEqual(2_500);
});

test("many simultaneous failures do not retry at the same moment", () => {
  const waits = new Set(Array.from({ length: 50 }, () => createBackoff({ minMs: 2_000, maxMs: 30_000 }).next()));
  expect(waits.size).toBeGreaterThan(10);
  expect(createBackoff({ minMs: 2_000, maxMs: 30_000, jitter: 0 }).next()).toBe(2_000);
});
