import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { pause, within } from "../../../core/sdk/channel.ts";

test("a pause ends at once when its signal aborts, or has aborted", async () => {
  const stop = new AbortController();
  const paused = pause(60_000, stop.signal);
  stop.abort();
  await paused;
  await pause(60_000, stop.signal);
});

test("work is waited for until the time is over or the signal aborts, and leaves no listener", async () => {
  const stop = new AbortController();
  const never = new Promise<string>(() => {});
  expect(await within(Promise.resolve("done"), 60_000, stop.signal)).toBe("done");
  expect(await within(never, 5, stop.signal)).toBeUndefined();
  await expect(within(Promise.reject(new Error("no")), 60_000, stop.signal)).rejects.toThrow("no");
  const waiting = within(never, 60_000, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  stop.abort();
  expect(await waiting).toBeUndefined();
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

test("what rejects after it was given up is ignored", async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  expect(await within(promise, 1, new AbortController().signal)).toBeUndefined();
  reject(new Error("late"));
  await new Promise((resolve) => setImmediate(resolve));
});
