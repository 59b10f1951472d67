/**
 * What a turn gives up while calls of its tools wait for a person, also where one begins to wait while another one
 * ends.
 */
import { expect, test } from "vitest";
import { createSlots } from "../../../core/path/lanes/turn-slots.ts";
import { addHold, Visit, whileHeld } from "../../../core/stations/index.ts";

test("overlapping waits of one turn keep it on hold and lose no slot", async () => {
  const slots = createSlots(() => 1);
  const visit = new Visit();
  const own = await slots.take();
  const clock: string[] = [];
  addHold(visit, { pause: () => own.pause(), resume: () => own.take() });
  addHold(visit, { pause: () => void clock.push("pause"), resume: () => void clock.push("resume") });
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const ended = [whileHeld(visit, () => first.promise)];
  const other = await slots.take();
  first.resolve();
  await Promise.resolve();
  ended.push(whileHeld(visit, () => second.promise));
  other.release();
  await ended[0];
  // The turn is on hold, so another one may run.
  const third = slots.takeNow();
  expect(third).toBeDefined();
  third?.release();
  second.resolve();
  await Promise.all(ended);
  expect(clock).toEqual(["pause", "resume"]);
  expect(slots.takeNow()).toBeUndefined();
  own.release();
  expect(slots.takeNow()).toBeDefined();
});
