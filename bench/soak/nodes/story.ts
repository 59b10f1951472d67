/**
 * What is known about the event of a violation, in lines: its decisions, its sends, and the faults at the same time.
 */
import type { State } from "../state.ts";
import type { SeenMessage } from "../witness.ts";
import type { Fault } from "./faults.ts";
import { markIn, type SentEvent } from "./load.ts";

const aroundMs = 20_000;

interface Decided {
  readonly at: number;
  readonly station: string;
  readonly code?: string;
  readonly detail?: string;
}

export interface StoryOptions {
  readonly state: State;
  readonly sent: readonly SentEvent[];
  readonly messages: ReadonlyMap<string, SeenMessage>;
  readonly faults: readonly Fault[];
  readonly query: (sql: string) => Promise<readonly Record<string, unknown>[]>;
}

const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 23);

/** Returns the lines for a violation, which names the mark or the id of an event; none if it names neither. */
export function createStory({
  state,
  sent,
  messages,
  faults,
  query,
}: StoryOptions): (violation: string) => Promise<readonly string[]> {
  return async (violation) => {
    const mark = markIn(violation);
    const [first = ""] = violation.split(/[ :]/);
    const event = state.events.find(
      ({ id, body, kind }) => id === first || (mark !== undefined && kind !== "summary" && markIn(body) === mark),
    );
    if (event === undefined) return [];
    const own = mark ?? markIn(event.body) ?? "";
    const rows = await query(`SELECT entries FROM $schema.decisions WHERE unit = ${event.unit ?? 0} ORDER BY id`);
    const decided = rows.flatMap(({ entries }) => entries as readonly Decided[]);
    const unit = event.unit === null ? undefined : state.units.get(event.unit);
    const facts = [
      { at: event.accepted_at, text: `accepted as ${event.id}` },
      ...decided.map(({ at, station, code, detail = "" }) => ({ at, text: `${station} ${code} ${detail}` })),
      ...[...messages.values()]
        .filter(({ text }) => markIn(text) === own)
        .map(({ at, id }) => ({ at, text: `the platform shows message ${id}` })),
      ...(unit?.settled_at ? [{ at: unit.settled_at, text: `ended ${unit.outcome} ${unit.reason}` }] : []),
    ];
    const [from, to] = [event.accepted_at - aroundMs, Math.max(...facts.map(({ at }) => at)) + 1_000];
    const near = faults
      .filter(({ at }) => at > from && at < to)
      .map(({ at, kind, detail }) => ({ at, text: `fault: ${kind} ${detail}` }));
    const call = sent.find((one) => one.mark === own);
    const head =
      `${own}, event ${event.id}, lane ${unit?.lane}, ${call?.way ?? "without a call"}, ` +
      `${event.attempts} attempts:`;
    const lines = [...facts, ...near].sort((a, b) => a.at - b.at).map(({ at, text }) => `    ${timeOf(at)} ${text}`);
    return [`  ${head}`, ...lines];
  };
}
