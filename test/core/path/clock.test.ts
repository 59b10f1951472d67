/** A wall clock that is set back or forward while lanes sleep, over the real store. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLanes, type Lanes } from "../../../core/path/lanes/lanes.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store, Unit } from "../../../core/state/store.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const hour = 3_600_000;
const lane = "botchat:default:7";
let directory: string;
let store: Store;
let lanes: Lanes;
/** How far the wall clock is off. */
let offMs: number;
/** Ids of the events of each unit that ran. */
let ran: string[][];
/** What becomes of a unit; default: it is answered. */
let handle: (unit: Unit) => Promise<unknown>;

const now = () => Date.now() + offMs;

async function openLanes(): Promise<void> {
  lanes = createLanes({
    store,
    now,
    maxConcurrent: () => 4,
    async run(unit) {
      ran.push(unit.events.map(({ id }) => id));
      await handle(unit);
    },
    onLastAttempts() {},
    onError: (error) => {
      throw error;
    },
  });
  await lanes.start();
}

async function receive(id: string, waitMs: number): Promise<void> {
  const due = now() + waitMs;
  const gather = { key: "album", due, extend: true } as const;
  const event = {
    source: "botchat",
    kind: "update",
    account: "default",
    lane,
    authority: "channel",
    gather,
    body: {},
  } as const;
  await store.accept({ event, id, at: now() });
  lanes.notify(lane, due);
}

const answered = (unit: Unit) =>
  store.settle({ unitId: unit.id, at: now(), outcome: "answered", reason: "answered", decisions: [] });

beforeEach(async () => {
  directory = temporaryDirectory();
  offMs = 0;
  ran = [];
  handle = answered;
  store = await openSqliteStore({ directory, now });
  await store.begin(now());
  await openLanes();
});

afterEach(async () => {
  vi.useRealTimers();
  await lanes.drain(1_000);
  await store.close();
  removeDirectory(directory);
});

test("setting the clock back two hours within an album holds the chat no longer than the album", async () => {
  await receive("one", 400);
  offMs = -2 * hour;
  await receive("two", 400);
  await expect.poll(() => ran).toEqual([["one", "two"]]);
  await receive("three", 0);
  await expect.poll(() => ran).toHaveLength(2);
});

test("setting the clock back does not delay the wake-up of a sleeping lane", async () => {
  await receive("one", 300);
  offMs = -2 * hour;
  await expect.poll(() => ran).toEqual([["one"]]);
});

test("setting the clock back does not delay a waiting retry", async () => {
  handle = async (unit) => {
    if (unit.attempts > 1) return await answered(unit);
    await store.handBack(unit.id, { due: now() + 300 });
    lanes.notify(lane, 0);
  };
  await receive("one", 0);
  await expect.poll(() => ran).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  offMs = -2 * hour;
  await expect.poll(() => ran).toEqual([["one"], ["one"]]);
});

test("setting the clock back between two processes does not hold waiting events", async () => {
  await receive("one", 60_000);
  await lanes.drain(1_000);
  offMs = -2 * hour;
  await store.begin(now());
  await openLanes();
  await expect.poll(() => ran).toEqual([["one"]]);
});

test("after the clock is set forward, a sleeping lane checks again within 30 seconds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await receive("one", hour);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(ran).toEqual([]);
  offMs = 2 * hour;
  await vi.advanceTimersByTimeAsync(30_000);
  vi.useRealTimers();
  await expect.poll(() => ran).toEqual([["one"]]);
});
