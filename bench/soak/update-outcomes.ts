/** Compares what people wrote with what became of it: which event, which unit, which reply. */
import { buttons, keyOf, type SentUpdate } from "./people.ts";
import type { EventRow, State, UnitRow } from "./state.ts";

export interface UpdateOutcomes {
  /** Events of an update; exactly one unless something is wrong. */
  eventsOf(sent: SentUpdate): readonly EventRow[];
  /** The messages of each chat unit. */
  readonly units: ReadonlyMap<UnitRow, readonly SentUpdate[]>;
  /** Events of updates that no person caused. */
  readonly unknown: readonly EventRow[];
}

export function readUpdateOutcomes(state: State, updates: readonly SentUpdate[]): UpdateOutcomes {
  const byKey = new Map(updates.map((one) => [one.key, one]));
  const events = new Map<string, EventRow[]>();
  const units = new Map<UnitRow, SentUpdate[]>();
  const unknown: EventRow[] = [];
  for (const event of state.events) {
    if (event.kind !== "update") continue;
    const one = byKey.get(keyOf(JSON.parse(event.body)));
    if (one === undefined) {
      unknown.push(event);
      continue;
    }
    events.set(one.key, [...(events.get(one.key) ?? []), event]);
    const unit = event.unit === null ? undefined : state.units.get(event.unit);
    if (unit !== undefined) units.set(unit, [...(units.get(unit) ?? []), one]);
  }
  return { eventsOf: ({ key }) => events.get(key) ?? [], units, unknown };
}

/** The text without white space, bullets and the words that stand for a picture. */
export function essence(text: string): string {
  return text.replace(/<?media:image>?/g, "").replace(/[\s•·-]+/g, "");
}

/** The expected echo of a unit, reduced by `essence`. */
export function expectedOf(updates: readonly SentUpdate[]): string {
  const newest = new Map<number, SentUpdate>();
  for (const one of updates) newest.set(one.message, { ...newest.get(one.message), ...one });
  const messages = [...newest.values()].sort((a, b) => a.message - b.message);
  const texts = messages.map(({ text }) => (text === buttons.asked ? buttons.answer : text));
  const files = messages.flatMap(({ size }) => (size === undefined ? [] : [`image, image/png, ${size} bytes`]));
  return essence([...texts, ...files].join(""));
}

export interface Gathering {
  readonly violations: readonly string[];
  /** Parts that arrived when the others already had their turn. */
  readonly apart: number;
  /** Albums and long texts that are one unit, and edits that joined their message. */
  readonly together: number;
}

/** Albums, long texts and edits that arrived in time are one unit; nothing else shares one. */
export function checkGathering(
  state: State,
  updates: readonly SentUpdate[],
  { eventsOf, units }: UpdateOutcomes,
): Gathering {
  const violations: string[] = [];
  let apart = 0;
  let together = 0;
  for (const [unit, parts] of units) {
    const wholes = new Set(parts.map(({ whole }) => whole));
    if (wholes.size > 1) violations.push(`unit ${unit.id} holds ${[...wholes].join(" and ")}`);
    if (parts.length > 1 && parts.some(({ kind }) => kind === "press"))
      violations.push(`unit ${unit.id} holds a press and more`);
  }
  const madeBefore = unitsMadeAfter(state);
  for (const parts of Map.groupBy(updates, ({ whole }) => whole).values()) {
    let previous: EventRow | undefined;
    for (const part of parts) {
      const [event] = eventsOf(part);
      if (event === undefined) continue;
      const before = previous;
      previous ??= event;
      if (part.kind === "message") previous = event;
      if (before === undefined) continue;
      if (event.unit === before.unit) {
        together += 1;
        continue;
      }
      const gap = Math.round(event.accepted_at - before.accepted_at);
      const waited = part.kind === "edit" && madeBefore(event) < (before.unit ?? 0);
      if (waited) violations.push(`${part.key.slice(0, 30)} came while its message waited, and is a unit of its own`);
      else if (part.kind === "message" && gap < part.waitMs / 2)
        violations.push(`${part.key} is apart from the part before it, ${gap} ms later`);
      else if (part.kind === "message") apart += 1;
    }
  }
  return { violations, apart, together };
}

/**
 * The first unit that was certainly created after an event arrived: one whose leader arrived later. Any unit with a
 * higher number was created when that event was in the inbox.
 */
function unitsMadeAfter({ events, units, unorderedMs }: State): (event: EventRow) => number {
  const leaders = events.filter((event) => event.unit !== null && units.get(event.unit)?.event_id === event.id);
  let least = Number.POSITIVE_INFINITY;
  const suffix = leaders
    .toReversed()
    .map(({ sequence, accepted_at: at, unit }) => {
      least = Math.min(least, unit ?? least);
      return { sequence, at, least };
    })
    .reverse();
  return ({ sequence, accepted_at: at }) =>
    suffix.find((one) => one.sequence > sequence && one.at >= at + unorderedMs)?.least ?? Number.POSITIVE_INFINITY;
}
