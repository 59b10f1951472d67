/** The inbox: units are claimed, end, or wait again. */
import type { Ending, PreviewLeft, Store, Unit, WaitingLane } from "service-gateway/sdk/store";
import { createAcceptance } from "./acceptance.ts";
import { packDecisions } from "./decisions.ts";
import { type PackedEvent, unpackEvent, unpackTaken } from "./events.ts";
import type { Lease } from "./lease.ts";
import { packReceipt, type SentRecords } from "./outbox.ts";
import type { Database } from "./pool.ts";
import { unpackedEvent } from "./schema/fragments.ts";
import { outcomeStates } from "./schema/tables.ts";

interface ClaimRow {
  readonly due: number | null;
  readonly stage: Unit["stage"] | null;
  readonly preview: PreviewLeft | null;
  readonly ending: Ending | null;
  readonly left_out: number | null;
  readonly others: boolean;
  readonly events: readonly PackedEvent[] | null;
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
      const rows = await database.query<{ unit: number; event: PackedEvent }>(
        `SELECT i.unit, ${unpackedEvent("i")} AS event FROM @inbox asking JOIN @inbox i ON i.lane = asking.lane JOIN @units u ON u.id = i.unit
         WHERE asking.id = $1 AND i.state = 5 AND i.sequence < asking.sequence AND u.reason = $2
           AND i.sequence > coalesce((SELECT sequence FROM @inbox WHERE id = $3), 0)
         ORDER BY i.sequence DESC LIMIT $4`,
        [eventId, reason, after ?? null, limit],
      );
      const units = Map.groupBy(rows.toReversed(), ({ unit }) => unit);
      return [...units.values()].map((passed) => passed.map(({ event }) => unpackEvent(event)));
    },
    async waitingLanes() {
      const rows = await database.query<{ lane: string; due: number; gathers: boolean }>("SELECT * FROM @waiting_lanes($1)", [now()]);
      return rows.map(({ lane, due, gathers }): WaitingLane => ({ lane, due, ...(gathers && { gathers }) }));
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

export function inboxWrites(database: Database, lease: Lease, sentRecords: SentRecords) {
  const { accept } = createAcceptance(database, lease);
  return {
    begin: () => lease.begin(),
    fence: () => lease.current(),
    accept,
    async claim(lane, { now, limit }) {
      const token = lease.token();
      const [row] = await database.call<ClaimRow>("claim", [...lease.values(), token, lane, now, limit]);
      const unit = row === undefined ? null : unitOf(row, lane);
      return unit === null ? { unit, due: row?.due ?? null } : { unit, others: row?.others === true };
    },
    async handBack(unitId, { due, uncount = false, decisions }) {
      const packed = packDecisions(decisions);
      await database.call("hand_back", [...lease.values(), unitId, lease.token(), due, uncount ? 1 : 0, ...packed]);
    },
    async settle(settlement) {
      const { unitId, at, outcome, reason, decisions, sessionKey, agentId, reply, sent, unread } = settlement;
      const ending = [at, outcome, outcomeStates[outcome], reason, sessionKey, agentId, reply, unread === true];
      const values = [...lease.values(), unitId, lease.token(), ...ending, ...packReceipt(sent), ...packDecisions(decisions)];
      const [row] = await sentRecords.during(database.call<{ settle: boolean }>("settle", values));
      return row?.settle === true;
    },
    async takeQueued(unitId, { queue, now }) {
      const [row] = await database.call<{ left_out: number; events: readonly PackedEvent[] }>("take_queued", (again) => [
        ...lease.values(),
        again,
        unitId,
        queue.lane,
        queue.key,
        now,
      ]);
      return unpackTaken(row?.events ?? [], row?.left_out ?? 0);
    },
    async requeue({ unitId, at, outcome, reason, decisions, sent }) {
      const ending = [at, outcome, outcomeStates[outcome], reason];
      const values = [...lease.values(), unitId, lease.token(), ...ending, ...packReceipt(sent), ...packDecisions(decisions)];
      await sentRecords.during(database.call("requeue", values));
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
