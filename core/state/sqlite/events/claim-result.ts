/** What a claim brings: a unit on its way from the writer to the lane that runs it. */
import type { Ending, PreviewLeft, Store, StoredEvent, Unit } from "../../store.ts";
import { type PackedEventRow, unpackEventRow } from "./inbox.ts";
import type { TakenEvents } from "./taken-events.ts";

/** A unit on its way to the asker's side: flat, because this is the hot path. */
type PackedUnit = readonly [
  stage: Unit["stage"],
  previews: string | null,
  ending: string | null,
  leftOut: number,
  others: 0 | 1,
  events: readonly PackedEventRow[],
];

/** No unit: when there will be one. */
export type ClaimResult = PackedUnit | number | null;

/** The first of them has the count of those that were left out. */
export function unpackTaken({ events, leftOut }: TakenEvents): readonly StoredEvent[] {
  return events.map((row, index) => (index === 0 && leftOut > 0 ? { ...unpackEventRow(row), leftOut } : unpackEventRow(row)));
}

export function unpackClaim(result: ClaimResult, lane: string): Awaited<ReturnType<Store["claim"]>> {
  if (result === null || typeof result === "number") return { unit: null, due: result };
  const [stage, previews, ending, leftOut, others, rows] = result;
  const events = unpackTaken({ events: rows, leftOut });
  const leader = events[0];
  if (!leader) throw new Error(`The lane ${lane} gave a unit without events.`);
  const unit: Unit = {
    id: leader.id,
    lane,
    events,
    attempts: leader.attempts,
    stage,
    ...(ending !== null && { ending: JSON.parse(ending) as Ending }),
    // An earlier version kept a list of ids only: their chats are no longer known.
    ...(previews?.startsWith("{") === true && { preview: JSON.parse(previews) as PreviewLeft }),
  };
  return { unit, others: others === 1 };
}
