/** Events of a queue in a unit that another event leads, such as a person's message. They end with it, or wait again. */
import type { Queue } from "../../queue-key.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { hasText, leftOutOf, removeUnitWithoutEvents, takeNewest } from "./event-queue.ts";
import { eventColumns, type PackedEventRow } from "./inbox.ts";

/** An event that so many attempts have begun with is left to the units of its queue, which fail it. */
const maxAttempts = 3;

/** The events that lead a unit of a queue have the queue's key. */
const taken = `unit = ? AND state = 3 AND gather_key >= 'heartbeat:' AND gather_key < 'heartbeat;'
  AND gather_key IS NOT (SELECT leader.gather_key FROM units JOIN inbox leader ON leader.id = event_id WHERE units.id = inbox.unit)`;

export interface TakenEvents {
  readonly events: readonly PackedEventRow[];
  readonly leftOut: number;
}

export function takeQueued(
  context: WriteContext,
  { unit, leader, queue, now }: { readonly unit: number; readonly leader: string; readonly queue: Queue; readonly now: number },
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

/** The turn did not end: another one takes them, at once where they asked for a turn. */
export function giveBackTaken(context: WriteContext, unit: number, uncounted: 0 | 1): void {
  const events = context.run(`UPDATE inbox SET state = 2, unit = NULL, attempts = attempts - ? WHERE ${taken}`, uncounted, unit);
  context.count("running", -events);
  context.count("waiting", events);
}

/** The turn has ended. What is left is sending, and their own lane has nothing to do with that. */
export function keepTaken(context: WriteContext, unit: number): void {
  context.run(`UPDATE inbox SET due = NULL WHERE ${taken}`, unit);
}
