/** Makes the values of the port from rows of a database, in which what is absent is `null`. */
import type { Decision, Json, Outcome } from "../contract/index.ts";
import type { EventReport } from "./report.ts";
import type { StoredEvent } from "./store.ts";

/**
 * The columns of a stored event. A flat list, because it is on the hot path. JSON has no infinite numbers, so such a
 * `due` may be a text.
 */
export type StoredEventRow = readonly [
  id: string,
  sequence: number,
  acceptedAt: number,
  attempts: number,
  source: string,
  kind: string,
  account: string | null,
  lane: string,
  authority: StoredEvent["authority"],
  gatherKey: string | null,
  dedupeKey: string | null,
  due: number | string | null,
  body: Json,
];

/** The event of a row. `due` and `gatherKey` become `gather` if the event is gathered under a key. */
export function storedEventOf(row: StoredEventRow): StoredEvent {
  const [id, sequence, acceptedAt, attempts, source, kind, account, lane, authority, gatherKey, dedupeKey, due, body] =
    row;
  return {
    id,
    sequence,
    acceptedAt,
    attempts,
    source,
    kind,
    ...(account !== null && { account }),
    lane,
    authority,
    ...(dedupeKey !== null && { dedupeKey }),
    ...(gatherKey !== null && { gather: { key: gatherKey, due: due === null ? null : Number(due) } }),
    body,
  };
}

/** The columns of an event and of its unit. */
export interface EventReportRow {
  readonly id: string;
  readonly source: string;
  readonly kind: string;
  readonly account: string | null;
  readonly lane: string;
  readonly accepted_at: number;
  readonly attempts: number;
  readonly unit_id: string | null;
  readonly outcome: Outcome | null;
  readonly reason: string | null;
  readonly settled_at: number | null;
  readonly session_key: string | null;
  readonly agent_id: string | null;
  readonly reply: string | null;
}

/** The report of a row, with what the database keeps in a form of its own. */
export function eventReportOf(
  row: EventReportRow,
  state: EventReport["state"],
  decisions: readonly Decision[],
): EventReport {
  return {
    id: row.id,
    source: row.source,
    kind: row.kind,
    ...(row.account !== null && { account: row.account }),
    lane: row.lane,
    acceptedAt: row.accepted_at,
    state,
    attempts: row.attempts,
    ...(row.unit_id !== null && { unitId: row.unit_id }),
    ...(row.outcome !== null && { outcome: row.outcome }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.settled_at !== null && { settledAt: row.settled_at }),
    ...(row.session_key !== null && { sessionKey: row.session_key }),
    ...(row.agent_id !== null && { agentId: row.agent_id }),
    ...(row.reply !== null && { reply: row.reply }),
    decisions,
  };
}
