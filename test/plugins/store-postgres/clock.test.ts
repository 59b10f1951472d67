/** How a node learns the time of the database, when answers are late. The clocks of this process are played. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSharedClock, type SharedClock } from "../../../plugins/store-postgres/nodes/clock.ts";
import type { Database } from "../../../plugins/store-postgres/pool.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
afterEach(() => void vi.useRealTimers());

/**
 * A database whose clock is ahead of that of this process, and whose answers are under way for the next of `late`, in
 * milliseconds.
 */
function serve(ahead: number) {
  const served = { ahead, late: [] as number[], asked: 0 };
  const query = async () => {
    served.asked += 1;
    const at = Date.now() + served.ahead;
    await new Promise((resolve) => setTimeout(resolve, served.late.shift() ?? 0));
    return [{ at }];
  };
  return { served, clock: createSharedClock({ query } as unknown as Database) };
}

async function measure(clock: SharedClock): Promise<void> {
  const measured = clock.measure();
  await vi.advanceTimersByTimeAsync(10_000);
  await measured;
}

test("a late response does not shift a correct clock", async () => {
  const { served, clock } = serve(5_000);
  await measure(clock);
  expect(clock.time() - Date.now()).toBe(5_000);
  served.late.push(600, 600, 600);
  await measure(clock);
  expect(clock.time() - Date.now()).toBe(5_000);
});

test("a late response is requested again up to three times, and the quickest one is used", async () => {
  const { served, clock } = serve(-5_000);
  served.late.push(800);
  await measure(clock);
  expect({ ahead: clock.time() - Date.now(), asked: served.asked }).toEqual({ ahead: -5_000, asked: 2 });
  served.late.push(300, 300, 300);
  await measure(clock);
  expect(served.asked).toBe(5);
});

test("a changed database clock is followed", async () => {
  const { served, clock } = serve(0);
  await measure(clock);
  served.ahead = 60_000;
  served.late.push(400, 400, 400);
  await measure(clock);
  // Half of the 400 ms that the answer was under way for is unknown.
  expect(clock.time() - Date.now()).toBe(59_800);
  await measure(clock);
  expect(clock.time() - Date.now()).toBe(60_000);
});
