/** How a node learns the time of the database, when answers are late. */
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSharedClock } from "../../../plugins/store-postgres/nodes/clock.ts";
import type { Database } from "../../../plugins/store-postgres/pool.ts";

/** A database whose clock is `aheadMs` ahead of that of this process, and whose answers are under way for the next of `late`. */
function serve(aheadMs: number) {
  const late: number[] = [];
  let asked = 0;
  const query = async () => {
    asked += 1;
    const at = Date.now() + aheadMs;
    await wait(late.shift() ?? 0);
    return [{ at }];
  };
  return { database: { query } as unknown as Database, late, asked: () => asked };
}

const error = (time: number, aheadMs: number) => Math.abs(time - Date.now() - aheadMs);

test("an answer that is late does not move a clock that was right", async () => {
  const { database, late } = serve(5_000);
  const clock = createSharedClock(database);
  await clock.measure();
  expect(error(clock.time(), 5_000)).toBeLessThan(150);
  late.push(600, 600, 600);
  await clock.measure();
  expect(error(clock.time(), 5_000)).toBeLessThan(150);
});

test("a first answer that is late is asked for again, three times at most", async () => {
  const { database, late, asked } = serve(-5_000);
  const clock = createSharedClock(database);
  late.push(800);
  await clock.measure();
  expect({ right: error(clock.time(), -5_000) < 150, asked: asked() }).toEqual({ right: true, asked: 2 });
  late.push(300, 300, 300);
  await clock.measure();
  expect(asked()).toBe(5);
});

test("a clock of the database that was set is followed", async () => {
  const { database } = serve(0);
  const clock = createSharedClock(database);
  await clock.measure();
  const changed = serve(60_000);
  (database as { query: unknown }).query = changed.database.query;
  changed.late.push(400, 400, 400);
  await clock.measure();
  // Half of the 400 ms that the answer was under way for is unknown.
  expect(error(clock.time(), 60_000)).toBeLessThan(350);
});
