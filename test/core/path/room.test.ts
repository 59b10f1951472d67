/** Room for more: a crowd of units that are under way holds the next ones up, for a moment. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLanes, type Lanes } from "../../../core/path/lanes/lanes.ts";
import type { Store, Unit } from "../../../core/state/store.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
afterEach(() => void vi.useRealTimers());

/** `count` units that run until `end` is called for one of them. */
async function crowd(count: number): Promise<{ readonly lanes: Lanes; readonly end: () => Promise<void> }> {
  const running: (() => void)[] = [];
  const lanes = createLanes({
    store: { waitingLanes: async () => [] } as unknown as Store,
    now: () => Date.now(),
    maxConcurrent: () => 10_000,
    run: () => new Promise<void>((resolve) => void running.push(resolve)),
    onError: (error) => {
      throw error;
    },
    onLastAttempts() {},
  });
  await lanes.start();
  for (let index = 0; index < count; index += 1) {
    const id = `unit-${index}`;
    const unit: Unit = { id, lane: id, events: [], attempts: 1, stage: "turn" };
    lanes.begin(id)?.(Promise.resolve({ eventId: id, duplicate: false, unit }));
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(lanes.running()).toBe(count);
  const end = async () => {
    running.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { lanes, end };
}

function watch(room: Promise<void> | undefined): { given: boolean } {
  const seen = { given: false };
  void room?.then(() => {
    seen.given = true;
  });
  return seen;
}

test("a new unit does not wait while few units are running", async () => {
  const { lanes } = await crowd(96);
  expect(lanes.room()).toBeUndefined();
});

test("too many running units delay new ones until enough have ended", async () => {
  const { lanes, end } = await crowd(98);
  const first = watch(lanes.room());
  const second = watch(lanes.room());
  await end();
  expect([first.given, second.given]).toEqual([false, false]);
  await end();
  expect([first.given, second.given]).toEqual([true, true]);
  expect(lanes.room()).toBeUndefined();
});

test("units stuck on an unavailable platform delay new ones only for a moment", async () => {
  const { lanes } = await crowd(400);
  const room = watch(lanes.room());
  await vi.advanceTimersByTimeAsync(99);
  expect(room.given).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(room.given).toBe(true);
  // Asked again, it waits again.
  const again = watch(lanes.room());
  await vi.advanceTimersByTimeAsync(50);
  expect(again.given).toBe(false);
  await vi.advanceTimersByTimeAsync(50);
  expect(again.given).toBe(true);
});
