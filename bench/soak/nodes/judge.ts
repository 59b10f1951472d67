/** The rules for several nodes on one state, whatever happened to them. Each violation names the mark of its event. */
import {
  answers,
  type Check,
  ends,
  endsReportedTwice,
  otherFailures,
  turnsAfterTheEnd,
  unreported,
  unsent,
} from "../checks.ts";
import type { EventRow, OutboxRow, State, UnitRow } from "../state.ts";
import type { SeenMessage } from "../witness.ts";
import { markIn, type SentEvent } from "./load.ts";

export interface Evidence {
  readonly state: State;
  readonly sent: readonly SentEvent[];
  /** In the order in which they were sent. */
  readonly messages: ReadonlyMap<string, SeenMessage>;
  /** Lines of the observer: kind, event id, time. */
  readonly observed: readonly (readonly [what: string, eventId: string, at: number])[];
  /** What the nodes did without being asked to. */
  readonly problems: readonly string[];
}

export interface Findings {
  readonly checks: readonly Check[];
  /** Counts of what a fault makes impossible to know. */
  readonly ambiguous: Readonly<Record<string, number>>;
}

/** What became of an event. */
interface Fate {
  readonly event: SentEvent;
  readonly stored: readonly EventRow[];
  readonly unit: UnitRow | undefined;
  readonly rows: readonly OutboxRow[];
  /** Its answers on the platform. */
  readonly copies: readonly SeenMessage[];
}

export function judgeNodes(evidence: Evidence): Findings {
  const { state, messages } = evidence;
  const fates = readFates(evidence);
  const flagged = state.outbox.filter(({ doubts }) => doubts > 0);
  // What waits for a heartbeat has no end before it.
  const settling = { ...state, events: state.events.filter(({ due, state: at }) => !(at === 2 && due === null)) };
  const failed = (reason: string) => [...state.units.values()].filter((unit) => unit.reason === reason).length;
  return {
    checks: [
      {
        rule: "every event that was sent is in the inbox, once, and every answer of a hook names it",
        violations: fates.flatMap(stored),
      },
      { rule: "every event has exactly one end", violations: ends({ state: settling }) },
      { rule: "no end was told twice", violations: endsReportedTwice(evidence) },
      { rule: "no turn began for an event that had ended", violations: turnsAfterTheEnd(evidence) },
      {
        rule: "an event fails for no other reason than being interrupted again and again",
        violations: otherFailures({ state: settling }),
      },
      { rule: "nothing is left unsent", violations: unsent({ state }) },
      { rule: "every answer is on the platform", violations: fates.flatMap(lost) },
      {
        rule: "an answer is there again only if the fate of a send was unknown, and was counted",
        violations: fates.flatMap(repeated),
      },
      {
        rule: "what was recorded as sent is on the platform, as it was meant",
        violations: answers({ state, messages }),
      },
      { rule: "the answers of a lane come in the order of its events", violations: order(fates, messages) },
      {
        rule: "what may have been sent twice says so in its chain of decisions",
        violations: unreported(flagged, { state }),
      },
      { rule: "the nodes do not end by themselves, and stop cleanly", violations: evidence.problems },
    ],
    ambiguous: {
      "sends of unknown fate": flagged.reduce((all, { doubts }) => all + doubts, 0),
      "answers seen again": fates.reduce((all, { copies }) => all + Math.max(0, copies.length - 1), 0),
      "given up after the last repetition": failed("send_fate_unknown"),
      "events that failed after three interrupted attempts": failed("attempts_exhausted"),
    },
  };
}

function readFates({ state, sent, messages }: Evidence): readonly Fate[] {
  const stored = Map.groupBy(
    state.events.filter(({ kind }) => kind !== "summary"),
    ({ body }) => markIn(body),
  );
  const rows = Map.groupBy(state.outbox, ({ unit }) => unit);
  const copies = Map.groupBy(messages.values(), ({ chat, text }) => `${chat} ${markIn(text)}`);
  return sent.map((event) => {
    const events = stored.get(event.mark) ?? [];
    const unit = events[0]?.unit ?? undefined;
    return {
      event,
      stored: events,
      unit: unit === undefined ? undefined : state.units.get(unit),
      rows: (unit === undefined ? undefined : rows.get(unit)) ?? [],
      copies: copies.get(`${event.chat} ${event.mark}`) ?? [],
    };
  });
}

function stored({ event, stored: events }: Fate): string[] {
  const { mark, way, acknowledged } = event;
  const known = events.map(({ id }) => id);
  const isSound =
    known.length === 1 && acknowledged.every((id) => id === known[0]) && (way === "chat" || acknowledged.length > 0);
  return isSound
    ? []
    : [`${mark}: stored as ${known.join(", ") || "nothing"}, acknowledged as ${acknowledged.join(", ") || "nothing"}`];
}

/**
 * An event that was interrupted in all its attempts has failed, and an answer whose sends all have an unknown fate may
 * be nowhere.
 */
function lost({ event, unit, rows, copies }: Fate): string[] {
  const isExcused =
    unit?.outcome === "failed" &&
    (unit.reason === "attempts_exhausted" ||
      (unit.reason === "send_fate_unknown" && rows.some(({ doubts }) => doubts >= 2)));
  return copies.length > 0 || isExcused ? [] : [`${event.mark}: no answer, it ended ${unit?.outcome} ${unit?.reason}`];
}

function repeated({ event, unit, rows, copies }: Fate): string[] {
  const doubts = rows.reduce((all, row) => all + row.doubts + (row.reason === "send_fate_unknown" ? 1 : 0), 0);
  return copies.length <= 1 + doubts
    ? []
    : [`${event.mark}: ${copies.length} copies, ${doubts} doubts, it ended ${unit?.outcome} ${unit?.reason}`];
}

/** By the first copy of each answer. The events of a lane were sent one after the other. */
function order(fates: readonly Fate[], messages: ReadonlyMap<string, SeenMessage>): string[] {
  const places = new Map([...messages.values()].map((message, index) => [message, index]));
  return [...Map.groupBy(fates, ({ event }) => event.lane).values()].flatMap((lane) => {
    let highest = -1;
    let before = "";
    return lane.flatMap(({ event: { mark }, copies: [first] }) => {
      const place = first === undefined ? undefined : places.get(first);
      if (place === undefined) return [];
      if (place < highest) return [`${mark}: its answer came before that to ${before}`];
      highest = place;
      before = mark;
      return [];
    });
  });
}
