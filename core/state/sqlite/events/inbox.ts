/** Reads the lanes and the events that wait in them. */
import type { Json } from "../../../contract/index.ts";
import { type StoredEventRow, storedEventOf } from "../../rows.ts";
import type { StoredEvent, WaitingLane } from "../../store.ts";
import { eventState } from "../database/schema.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";

export function inboxWrites(context: WriteContext) {
  return {
    replay({ eventId, now }: { readonly eventId: string; readonly now: number }): boolean {
      const event = context.one<{ sequence: number; state: number }>(
        "SELECT sequence, state FROM inbox WHERE id = ?",
        eventId,
      );
      const outcome = (["answered", "silent", "refused", "failed"] as const).find(
        (name) => eventState[name] === event?.state,
      );
      if (!event || !outcome) return false;
      // An event that waited for others with its key has none left to wait for, so it gets a due time of its own.
      context.run(
        "UPDATE inbox SET state = ?, attempts = 0, replays = replays + 1, unit = NULL, due = coalesce(due, " +
          "?) WHERE sequence = ?",
        eventState.waiting,
        now,
        event.sequence,
      );
      context.count(outcome, -1);
      context.count("kept", -1);
      context.count("waiting", 1);
      return true;
    },
  };
}

/** An event row on its way from the database to the caller. */
export type PackedEventRow = readonly [...columns: Leading<StoredEventRow>, body: string];

/** All but the last element of a list. */
type Leading<List extends readonly unknown[]> = List extends readonly [...infer Some, unknown] ? Some : never;

/** The columns of a `PackedEventRow`. */
export const eventColumns =
  "id, sequence, accepted_at, attempts, source, kind, account, lane, authority, gather_key, dedupe_key, due, body";

export function unpackEventRow(row: PackedEventRow): StoredEvent {
  const [id, sequence, acceptedAt, attempts, source, kind, account, lane, authority, gatherKey, dedupeKey, due, body] =
    row;
  const parsed = JSON.parse(body) as Json;
  return storedEventOf([
    id,
    sequence,
    acceptedAt,
    attempts,
    source,
    kind,
    account,
    lane,
    authority,
    gatherKey,
    dedupeKey,
    due,
    parsed,
  ]);
}

export interface PassedOverInput {
  readonly eventId: string;
  readonly reason: string;
  readonly limit: number;
  readonly after?: string;
}

/** Clock adjustments up to this size do not count as the clock being set back. */
const adjustedMs = 5_000;

/** When an event is due, and when it was accepted. */
interface Hold {
  readonly accepted_at: number;
  readonly due: number;
}

export interface Head extends Hold {
  readonly sequence: number;
  readonly id: string;
  readonly gather_key: string | null;
  readonly attempts: number;
  readonly replays: number;
  readonly unit: number | null;
  readonly stage: "turn" | "delivery" | null;
  readonly not_before: number | null;
}

const headColumns =
  "i.lane, i.sequence, i.id, i.accepted_at, i.due, i.gather_key, i.attempts, i.replays, i.unit, u.stage, u.not_before";

export function headOf(sql: Statements, lane: string): Head | undefined {
  return sql.one<Head>(
    `SELECT ${headColumns} FROM inbox i LEFT JOIN units u ON u.id = i.unit
     WHERE i.lane = ? AND i.state = 2 AND i.due IS NOT NULL ORDER BY i.sequence LIMIT 1`,
    lane,
  );
}

/**
 * When a lane's head may start. If the newest event with its key extends the wait, that event sets the time for all of
 * them. An acceptance can thus postpone the unit without changing the rows that already wait.
 */
export function dueOf(sql: Statements, lane: string, head: Head, now: number): number {
  return dueSince(extensionOf(sql, lane, head) ?? head, head.not_before, now);
}

/**
 * When a waiting event may start. If the clock is before the time of acceptance, it was set back since, and the event
 * is due at once. Otherwise an album that arrived just before would block its lane for as long as the clock was set
 * back.
 */
export function dueSince(hold: Hold, notBefore: number | null, now: number): number {
  return hold.accepted_at - now > adjustedMs ? 0 : Math.max(hold.due, notBefore ?? 0);
}

/** The newest event with the head's key, if it sets the time for all; otherwise `undefined`. */
function extensionOf(sql: Statements, lane: string, head: Head): Hold | undefined {
  if (head.stage === "delivery" || head.gather_key === null) return undefined;
  const newest = sql.one<Hold & { extend: 0 | 1 }>(
    `SELECT accepted_at, due, extend FROM inbox WHERE state = 2 AND lane = ? AND gather_key = ? AND (due IS NULL) = 0
     ORDER BY sequence DESC LIMIT 1`,
    lane,
    head.gather_key,
  );
  return newest?.extend === 1 ? newest : undefined;
}

export function inboxReads(sql: Statements, now: () => number) {
  return {
    first(dedupeKey: string): { readonly eventId: string; readonly fingerprint?: string } | null {
      const row = sql.one<{ event_id: string; fingerprint: string | null }>(
        "SELECT event_id, fingerprint FROM dedupe WHERE key = ? AND until > ?",
        dedupeKey,
        now(),
      );
      if (!row) return null;
      return { eventId: row.event_id, ...(row.fingerprint !== null && { fingerprint: row.fingerprint }) };
    },

    passedOver(asked: PassedOverInput): readonly { readonly unit: number; readonly event: StoredEvent }[] {
      const placeOf = (id: string) =>
        sql.one<{ lane: string; sequence: number }>("SELECT lane, sequence FROM inbox WHERE id = ?", id);
      const place = placeOf(asked.eventId);
      if (!place) return [];
      const after = asked.after === undefined ? 0 : (placeOf(asked.after)?.sequence ?? 0);
      // CROSS JOIN makes SQLite start with the lane's index.
      return sql
        .allLists<readonly [unit: number, ...PackedEventRow]>(
          `SELECT unit, ${eventColumns} FROM inbox CROSS JOIN (SELECT id AS ended, reason FROM units) ON ended = unit
           WHERE lane = ? AND state = 5 AND sequence > ? AND sequence < ? AND reason = ? ORDER BY sequence DESC
             LIMIT ?`,
          place.lane,
          after,
          place.sequence,
          asked.reason,
          asked.limit,
        )
        .toReversed()
        .map(([unit, ...row]) => ({ unit, event: unpackEventRow(row) }));
    },

    waitingLanes(): readonly WaitingLane[] {
      const heads = sql.all<Head & { lane: string }>(
        `SELECT ${headColumns}
         FROM (SELECT min(sequence) AS first FROM inbox WHERE state = 2 AND due IS NOT NULL GROUP BY lane)
         JOIN inbox i ON i.sequence = first LEFT JOIN units u ON u.id = i.unit`,
      );
      const oldestFirst = heads.toSorted((a, b) => a.sequence - b.sequence);
      return oldestFirst.map((head) => {
        const gathers = head.unit === null && extensionOf(sql, head.lane, head) !== undefined;
        const attempts = head.stage === "delivery" ? 0 : head.attempts;
        const due = dueOf(sql, head.lane, head, now());
        return { lane: head.lane, due, ...(gathers && { gathers }), ...(attempts > 0 && { attempts }) };
      });
    },
  };
}
