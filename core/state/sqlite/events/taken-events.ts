/**
 * Events of a queue that are part of a unit led by another event, such as a user's message. They end with the unit, or
 * wait again.
 */
import type { Queue } from "../../queue-key.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { hasText, leftOutOf, removeUnitWithoutEvents, takeNewest } from "./event-queue.ts";
import { eventColumns, type PackedEventRow } from "./inbox.ts";

/** After this many attempts, an event is no longer taken along. It is left to the units of its queue, which fail it. */
const maxAttempts = 3;

/** Selects events taken along. Events in a unit led by their own queue have the same gather key as the leader. */
const taken = `unit = ? AND state = 3 AND gather_key >= 'heartbeat:' AND gather_key < 'heartbeat;'
  AND gather_key IS NOT (SELECT leader.gather_key FROM units JOIN inbox leader ON leader.id = event_id
    WHERE units.id = inbox.unit)`;

export interface TakenEvents {
  readonly events: readonly PackedEventRow[];
  readonly leftOut: number;
}

export function takeQueued(
  context: WriteContext,
  {
    unit,
    leader,
    queue,
    now,
  }: { readonly unit: number; readonly leader: string; readonly queue: Queue; readonly now: number },
): TakenEvents {
  const attempts = context.one<{ attempts: number }>("SELECT attempts FROM inbox WHERE id = ?", leader)?.attempts ?? 0;
  if (attempts >= maxAttempts) return { events: [], leftOut: 0 };
  const newest = takeNewest(context, queue, { now, also: `${hasText} AND attempts < ${maxAttempts}` });
  const events = newest.flatMap(({ sequence, unit: former }) => {
    const event = context.oneList<PackedEventRow>(
      `UPDATE inbox SET state = 3, attempts = attempts + 1, unit = ? WHERE sequence = ? RETURNING ${eventColumns}`,
      unit,
      sequence,
    );
    if (former !== null) removeUnitWithoutEvents(context, former);
    return event === undefined ? [] : [event];
  });
  context.count("waiting", -events.length);
  context.count("running", events.length);
  return { events, leftOut: events.length === 0 ? 0 : leftOutOf(context, queue.key) };
}

/** Returns the events to their queue because the turn did not end. Events that requested a turn are due at once. */
export function giveBackTaken(context: WriteContext, unit: number, uncounted: 0 | 1): void {
  const events = context.run(
    `UPDATE inbox SET state = 2, unit = NULL, attempts = attempts - ? WHERE ${taken}`,
    uncounted,
    unit,
  );
  context.count("running", -events);
  context.count("waiting", events);
}

/**
 * Keeps the events in the unit because the turn has ended. Only sending is left, which does not concern their own lane.
 */
export function keepTaken(context: WriteContext, unit: number): void {
  context.run(`UPDATE inbox SET due = NULL WHERE ${taken}`, unit);
}
