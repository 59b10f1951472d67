/** The inbox: units are claimed, end, or wait again. */
import {
  type Ending,
  type PreviewLeft,
  type Store,
  type StoredEvent,
  type StoredEventRow,
  storedEventOf,
  type Unit,
  type WaitingLane,
} from "service-gateway/sdk/store";
import { createAcceptance } from "./acceptance.ts";
import { requireWholeState } from "./copying.ts";
import { packDecisions } from "./decisions.ts";
import { isLeaseError } from "./failure.ts";
import type { Lease } from "./nodes/lease.ts";
import type { Database } from "./pool.ts";
import type { RunningUnits } from "./running-units.ts";
import { unpackedEvent } from "./schema/fragments.ts";
import { outcomeStates } from "./schema/tables.ts";
import { packReceipt, type SentRecords } from "./sent-records.ts";
import { createSharedCalls, type SharedCall } from "./shared-calls.ts";

interface ClaimRow {
  readonly due: number | null;
  readonly stage: Unit["stage"] | null;
  readonly preview: PreviewLeft | null;
  readonly ending: Ending | null;
  readonly left_out: number | null;
  readonly others: boolean;
  readonly events: readonly StoredEventRow[] | null;
}

/**
 * Events taken from a queue, from the list that `unpackedEvent` of the schema builds. The first one has the number of
 * those left out.
 */
function unpackTaken(events: readonly StoredEventRow[], leftOut: number | null): readonly StoredEvent[] {
  return events.map((packed, index) => {
    const event = storedEventOf(packed);
    return index === 0 && leftOut !== null && leftOut > 0 ? { ...event, leftOut } : event;
  });
}

function unitOf(row: ClaimRow, lane: string): Unit | null {
  const events = unpackTaken(row.events ?? [], row.left_out);
  const [leader] = events;
  if (leader === undefined || row.stage === null) return null;
  return {
    id: leader.id,
    lane,
    events,
    attempts: leader.attempts,
    stage: row.stage,
    ...(row.ending !== null && { ending: row.ending }),
    ...(row.preview !== null && { preview: row.preview }),
  };
}

export function inboxReads(database: Database, now: () => number) {
  return {
    async first(dedupeKey) {
      const [row] = await database.query<{ event_id: string; fingerprint: string | null }>(
        "SELECT event_id, fingerprint FROM @dedupe WHERE key = $1 AND until > $2",
        [dedupeKey, now()],
      );
      if (row === undefined) return null;
      return { eventId: row.event_id, ...(row.fingerprint !== null && { fingerprint: row.fingerprint }) };
    },
    async passedOver(eventId, { reason, limit, after }) {
      const rows = await database.query<{ unit: number; event: StoredEventRow }>(
        `SELECT i.unit, ${unpackedEvent("i")} AS event FROM @inbox asking JOIN @inbox i ON i.lane = asking.lane
        JOIN @units u ON u.id = i.unit
         WHERE asking.id = $1 AND i.state = 5 AND i.sequence < asking.sequence AND u.reason = $2
           AND i.sequence > coalesce((SELECT sequence FROM @inbox WHERE id = $3), 0)
         ORDER BY i.sequence DESC LIMIT $4`,
        [eventId, reason, after ?? null, limit],
      );
      const units = Map.groupBy(rows.toReversed(), ({ unit }) => unit);
      return [...units.values()].map((passed) => passed.map(({ event }) => storedEventOf(event)));
    },
    async waitingLanes() {
      const rows = await database.query<{ lane: string; due: number; gathers: boolean; attempts: number }>(
        `SELECT w.*, coalesce(h.attempts, 0) AS attempts FROM @waiting_lanes($1) w LEFT JOIN LATERAL (
           SELECT CASE u.stage WHEN 'delivery' THEN 0 ELSE i.attempts END AS attempts FROM @inbox i LEFT
             JOIN @units u ON u.id = i.unit
           WHERE i.lane = w.lane AND i.state = 2 AND i.due IS NOT NULL ORDER BY i.sequence LIMIT 1
         ) h ON true`,
        [now()],
      );
      return rows.map(
        ({ lane, due, gathers, attempts }): WaitingLane => ({
          lane,
          due,
          ...(gathers && { gathers }),
          ...(attempts > 0 && { attempts }),
        }),
      );
    },
    async queueWaits({ lane, key }) {
      const rows = await database.query(
        `SELECT FROM @inbox i WHERE i.state = 2 AND i.lane = $1 AND i.gather_key = $2 AND i.characters > 0
           AND NOT EXISTS (SELECT FROM @units u WHERE u.id = i.unit AND u.stage = 'delivery') LIMIT 1`,
        [lane, key],
      );
      return rows.length > 0;
    },
  } satisfies Partial<Store>;
}

export interface WorkParts {
  readonly lease: Lease;
  readonly units: RunningUnits;
  readonly sentRecords: SentRecords;
  /** Called with a lane in which other events wait after the end of a unit. */
  readonly onWork: (lanes: readonly string[]) => void;
}

export function inboxWrites(database: Database, { lease, units, sentRecords, onWork }: WorkParts) {
  const { accept } = createAcceptance(database, lease, units);

  const sharedSettle = createSharedCalls(database, "settle");

  /** Calls a function that ends the run of a unit, once however often the call is repeated. */
  const endRun = async <Row>(
    name: string,
    unitId: string,
    values: readonly unknown[],
    call: SharedCall = (all) => database.call(name, all),
  ): Promise<Row | undefined> => {
    try {
      const [row] = await units.withToken(`${name} ${unitId}`, (token) =>
        call<Row>([...lease.values(), unitId, token, ...values]),
      );
      units.ended(unitId);
      return row;
    } catch (error) {
      if (isLeaseError(error)) units.ended(unitId);
      throw error;
    }
  };

  return {
    async begin() {
      const begun = await lease.begin();
      try {
        await requireWholeState(database);
      } catch (error) {
        await lease.end();
        throw error;
      }
      return begun;
    },
    fence: () => lease.current(),
    accept,
    async claim(lane, { now, limit }) {
      const isHeld = lease.watched();
      const [row] = await units.withToken(`claim ${lane}`, (token) =>
        database.call<ClaimRow>("claim", [...lease.values(), token, lane, now, limit]),
      );
      const unit = row === undefined ? null : unitOf(row, lane);
      // Another node may run it by now, or may have ended it.
      if (unit !== null && !isHeld()) return { unit: null, due: null };
      if (unit !== null) units.took(unit.id);
      return unit === null ? { unit, due: row?.due ?? null } : { unit, others: row?.others === true };
    },
    async handBack(unitId, { due, uncount = false, decisions }) {
      await endRun("hand_back", unitId, [due, uncount ? 1 : 0, ...packDecisions(decisions)]);
    },
    async setAttempts(unitId, attempts) {
      // A repetition after a lost answer sets the same number.
      const { schema } = database;
      const statement = `UPDATE ${schema}.inbox i SET attempts = i.attempts + $4 - l.attempts
        FROM ${schema}.inbox l JOIN ${schema}.units u ON u.id = l.unit JOIN ${schema}.nodes n ON n.fence = u.fence
        WHERE l.id = $3 AND u.event_id = l.id AND u.state = 1 AND i.unit = u.id AND i.state = 3
          AND n.node = $1 AND n.incarnation = $2 AND n.lease_until > clock_timestamp()`;
      await database.transaction(async (query) => void (await query(statement, [...lease.values(), unitId, attempts])));
    },
    async settle(settlement) {
      const { unitId, at, outcome, reason, decisions, sessionKey, agentId, reply, sent, unread } = settlement;
      const ending = [at, outcome, outcomeStates[outcome], reason, sessionKey, agentId, reply, unread === true];
      const values = [...ending, ...packReceipt(sent), ...packDecisions(decisions)];
      // Events of a queue concern other units too.
      const call = unread === true ? undefined : sharedSettle;
      const row = await sentRecords.during(
        endRun<{ settled: boolean; lane: string | null }>("settle", unitId, values, call),
      );
      if (row !== undefined && row.lane !== null) onWork([row.lane]);
      return row?.settled === true;
    },
    async takeQueued(unitId, { queue, now }) {
      const [row] = await database.call<{ left_out: number; events: readonly StoredEventRow[] }>(
        "take_queued",
        (again) => [...lease.values(), again, unitId, queue.lane, queue.key, now],
      );
      return unpackTaken(row?.events ?? [], row?.left_out ?? 0);
    },
    async requeue({ unitId, at, outcome, reason, decisions, sent }) {
      const ending = [at, outcome, outcomeStates[outcome], reason];
      await sentRecords.during(
        endRun("requeue", unitId, [...ending, ...packReceipt(sent), ...packDecisions(decisions)]),
      );
    },
    async leftOutReported(key, count) {
      await database.call("left_out_reported", [key, count]);
    },
    async setPreview(unitId, preview) {
      await database.call("set_preview", [...lease.values(), unitId, JSON.stringify(preview)]);
    },
    async replay(eventId, now) {
      const [row] = await database.call<{ replay: boolean }>("replay", [eventId, now]);
      return row?.replay === true;
    },
  } satisfies Partial<Store>;
}
