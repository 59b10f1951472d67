/** The result of a claim: a unit on its way from the writer to the lane that runs it. */
import type { Ending, PreviewLeft, Store, StoredEvent, Unit } from "../../store.ts";
import { type PackedEventRow, unpackEventRow } from "./inbox.ts";
import type { TakenEvents } from "./taken-events.ts";

/** A unit on its way back from the writer, as a flat list because this is the hot path. */
type PackedUnit = readonly [
  stage: Unit["stage"],
  previews: string | null,
  ending: string | null,
  leftOut: number,
  others: 0 | 1,
  isFirstRun: 0 | 1,
  events: readonly PackedEventRow[],
];

/** The unit; otherwise the time at which one will be due, or `null` if nothing waits. */
export type ClaimResult = PackedUnit | number | null;

/** Unpacks events taken from a queue. The first one carries the number of those left out. */
export function unpackTaken({ events, leftOut }: TakenEvents): readonly StoredEvent[] {
  return events.map((row, index) =>
    index === 0 && leftOut > 0 ? { ...unpackEventRow(row), leftOut } : unpackEventRow(row),
  );
}

export function unpackClaim(result: ClaimResult, lane: string): Awaited<ReturnType<Store["claim"]>> {
  if (result === null || typeof result === "number") return { unit: null, due: result };
  const [stage, previews, ending, leftOut, others, isFirstRun, rows] = result;
  const events = unpackTaken({ events: rows, leftOut });
  const leader = events[0];
  if (!leader) throw new Error(`The lane ${lane} returned a unit without events.`);
  const unit: Unit = {
    id: leader.id,
    lane,
    events,
    attempts: leader.attempts,
    stage,
    ...(isFirstRun === 1 && { isFirstRun: true }),
    ...(ending !== null && { ending: JSON.parse(ending) as Ending }),
    // An earlier version stored only a list of ids, whose chats are unknown.
    ...(previews?.startsWith("{") === true && { preview: JSON.parse(previews) as PreviewLeft }),
  };
  return { unit, others: others === 1 };
}
