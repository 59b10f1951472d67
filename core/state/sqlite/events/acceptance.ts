/** Accepts events: how they are sent to the writer, and where it stores them. */
import { isQueueKey } from "../../queue-key.ts";
import type { NewEvent } from "../../store.ts";
import { eventState, unitState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions, packDecisions } from "../records/decisions.ts";
import { createQueueBounds } from "./event-queue.ts";

const dedupeMs = 7 * 24 * 3_600_000;

/** An event on its way to the writer, as a flat list because this is the hot path. `accept` below reads it. */
export type PackedEvent = readonly [
  id: string,
  at: number,
  source: string,
  kind: string,
  account: string | null,
  lane: string,
  authority: string,
  gatherKey: string | null,
  due: number | null,
  body: string,
  rest: PackedRest | null,
  extend: 0 | 1,
  claim: 0 | 1,
];

interface PackedRest {
  readonly dedupeKey: string | null;
  readonly dedupeUntil: number;
  readonly fingerprint: string | null;
  readonly settled: NewEvent["settled"] | null;
}

export function packEvent({ event, id, at, dedupeUntil, fingerprint, claim, settled }: NewEvent): PackedEvent {
  const { gather, dedupeKey } = event;
  const rest =
    dedupeKey === undefined && settled === undefined
      ? null
      : {
          dedupeKey: dedupeKey ?? null,
          dedupeUntil: dedupeUntil ?? at + dedupeMs,
          fingerprint: fingerprint ?? null,
          settled: settled ?? null,
        };
  return [
    id,
    at,
    event.source,
    event.kind,
    event.account ?? null,
    event.lane,
    event.authority,
    gather?.key ?? null,
    // An ungathered event is due immediately, so that one comparison covers all cases.
    gather ? gather.due : 0,
    JSON.stringify(event.body),
    rest,
    gather?.extend === true ? 1 : 0,
    claim === true ? 1 : 0,
  ];
}

const insertEvent = `INSERT INTO inbox
  (id, state, attempts, unit, accepted_at, due, source, kind, account, lane, authority, gather_key, extend,
  dedupe_key, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** An event that was taken at once, and the row of its unit. */
type Taken = readonly [sequence: number, unit: number];

/** The earlier event if this one is a duplicate; the unit if it was taken; `null` if it waits or has ended. */
export type AcceptResult = { readonly eventId: string; readonly sameFingerprint: boolean } | Taken | null;

/** The initial state of an event: waiting, or part of a unit. */
interface Standing {
  readonly state: number;
  readonly attempts: 0 | 1;
  readonly unit: number | null;
}

const waits: Standing = { state: eventState.waiting, attempts: 0, unit: null };

export function acceptanceWrites(context: WriteContext) {
  const bounds = createQueueBounds(context);
  const insert = (event: PackedEvent, { state, attempts, unit }: Standing): number => {
    const [id, at, source, kind, account, lane, authority, gatherKey, due, body, rest, extend] = event;
    const dedupeKey = rest?.dedupeKey ?? null;
    return context.insert(
      insertEvent,
      id,
      state,
      attempts,
      unit,
      at,
      due,
      source,
      kind,
      account,
      lane,
      authority,
      gatherKey,
      extend,
      dedupeKey,
      body,
    );
  };

  /** Whether nothing of the event's lane runs, and no waiting event comes before it or belongs with it. */
  const isAtRest = ([, , , , , lane, , gatherKey]: PackedEvent): boolean =>
    context.one("SELECT 1 FROM units WHERE state = 1 AND lane = ?", lane) === undefined &&
    context.one("SELECT 1 FROM inbox WHERE lane = ? AND state = 2 AND due IS NOT NULL LIMIT 1", lane) === undefined &&
    (gatherKey === null ||
      context.one("SELECT 1 FROM inbox WHERE state = 2 AND lane = ? AND gather_key = ? LIMIT 1", lane, gatherKey) ===
        undefined);

  /** Stores the event. Also takes it at once if the caller asked for that and the lane is at rest. */
  const place = (event: PackedEvent): Taken | null => {
    if (event[12] === 0 || !context.holdsFence() || !isAtRest(event)) {
      insert(event, waits);
      context.count("waiting", 1);
      const key = event[7];
      if (isQueueKey(key)) bounds.added({ lane: event[5], key }, event[1]);
      return null;
    }
    const unit = context.insert(
      "INSERT INTO units (event_id, lane, state) VALUES (?, ?, ?)",
      event[0],
      event[5],
      unitState.running,
    );
    try {
      const sequence = insert(event, { state: eventState.running, attempts: 1, unit });
      context.count("running", 1);
      return [sequence, unit];
    } catch (error) {
      context.run("DELETE FROM units WHERE id = ?", unit);
      throw error;
    }
  };

  const firstOf = (key: string) =>
    context.one<{ event_id: string; fingerprint: string | null }>(
      "SELECT event_id, fingerprint FROM dedupe WHERE key = ?",
      key,
    );

  /** Returns false if the key is already known. In the usual case of a new key, one statement suffices. */
  const remember = (key: string, [id, at]: PackedEvent, { fingerprint, dedupeUntil }: PackedRest): boolean =>
    context.run(
      `INSERT INTO dedupe (key, event_id, fingerprint, until) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
       SET event_id = excluded.event_id, fingerprint = excluded.fingerprint, until = excluded.until
         WHERE dedupe.until <= ?`,
      key,
      id,
      fingerprint,
      dedupeUntil,
      at,
    ) > 0;

  const insertSettled = (event: PackedEvent, end: NonNullable<NewEvent["settled"]>) => {
    const unit = (context.one<{ id: number }>("SELECT coalesce(max(id), 0) + 1 AS id FROM units") ?? { id: 1 }).id;
    insert(event, { state: eventState[end.outcome], attempts: 0, unit });
    context.run(
      "INSERT INTO units (id, event_id, lane, state, outcome, reason, settled_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      unit,
      event[0],
      event[5],
      unitState.settled,
      end.outcome,
      end.reason,
      event[1],
    );
    appendDecisions(context, unit, packDecisions(end.decisions));
    context.count(end.outcome, 1);
    context.count("kept", 1);
  };

  return {
    accept(event: PackedEvent): AcceptResult {
      const rest = event[10];
      if (rest === null) return place(event);
      const { dedupeKey, fingerprint, settled } = rest;
      if (dedupeKey !== null && !remember(dedupeKey, event, rest)) {
        const first = firstOf(dedupeKey);
        return { eventId: first?.event_id ?? event[0], sameFingerprint: first?.fingerprint === fingerprint };
      }
      try {
        if (!settled) return place(event);
        insertSettled(event, settled);
        return null;
      } catch (error) {
        // Removes the key, so that a retry of the failed event is not mistaken for a duplicate.
        if (dedupeKey !== null) context.run("DELETE FROM dedupe WHERE key = ? AND event_id = ?", dedupeKey, event[0]);
        throw error;
      }
    },
  };
}
