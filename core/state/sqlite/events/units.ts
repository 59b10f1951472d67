/** Units of work: what a run takes out of a lane, and how it gives it back or ends it. */
import type { Outcome } from "../../../contract/index.ts";
import { isQueueKey, type Queue } from "../../queue-key.ts";
import type { Settlement, Unit } from "../../store.ts";
import { eventState, unitState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions, packDecisions } from "../records/decisions.ts";
import { type PackedSent, packSent, recordSent } from "../records/sent.ts";
import type { ClaimResult } from "./claim-result.ts";
import { hasText, leftOutOf, takeNewest } from "./event-queue.ts";
import { dueOf, dueSince, eventColumns, type Head, headOf, type PackedEventRow } from "./inbox.ts";
import { giveBackTaken, type TakenEvents, takeQueued } from "./taken-events.ts";

export interface UnitRow {
  readonly id: number;
  readonly event_id: string;
  readonly state: number;
  readonly stage: Unit["stage"];
  /** How often the event that leads it was handed in again by hand. */
  readonly replays: number;
}

/** What an earlier run of a unit left. */
interface LeftRow {
  readonly stage: Unit["stage"];
  readonly previews: string | null;
  readonly ending: string | null;
}

interface Member {
  readonly sequence: number;
  readonly id: string;
  readonly unit: number | null;
}

/** The unit that an event leads. */
function unitLedBy(context: WriteContext, unitId: string): UnitRow | undefined {
  return context.one<UnitRow>(
    `SELECT u.id, u.event_id, u.state, u.stage, i.replays FROM inbox i JOIN units u ON u.id = i.unit
     WHERE i.id = ? AND u.event_id = i.id`,
    unitId,
  );
}

/** The running unit of that name, for what only its runner may do. */
export function runningUnit(context: WriteContext, unitId: string): UnitRow {
  context.requireFence();
  const unit = unitLedBy(context, unitId);
  if (unit?.state !== unitState.running) throw new Error(`The unit ${unitId} is not running.`);
  return unit;
}

/** Gathered events of one key, oldest first; those whose turn is done already stay with their unit. */
function gathered(context: WriteContext, lane: string, head: Head, limit: number): readonly Member[] {
  const side = (withoutDue: 0 | 1) =>
    context.all<Member>(
      `SELECT sequence, id, unit FROM inbox
       WHERE state = 2 AND lane = ? AND gather_key = ? AND (due IS NULL) = ${withoutDue}
         AND NOT EXISTS (SELECT 1 FROM units u WHERE u.id = inbox.unit AND u.stage = 'delivery')
       ORDER BY sequence LIMIT ?`,
      lane,
      head.gather_key,
      limit,
    );
  const all = [...side(1), ...side(0)].sort((a, b) => a.sequence - b.sequence);
  const first = all.slice(0, limit);
  if (all.length <= limit || first.some((member) => member.sequence === head.sequence)) return first;
  return [...first.slice(0, limit - 1), ...all.filter((member) => member.sequence === head.sequence)];
}

/** Most messages have a key of their own, under which an edit may join them, and nothing else waits under it. */
function isAlone(context: WriteContext, lane: string, head: Head): boolean {
  if (head.stage === "delivery" || head.gather_key === null) return false;
  return (
    context.all("SELECT sequence FROM inbox WHERE state = 2 AND lane = ? AND gather_key = ? LIMIT 2", lane, head.gather_key).length === 1
  );
}

/** A waiting event is due at some time, or joins one that is: so one look shows whether a lane is at rest. */
function anyWaits(context: WriteContext, lane: string): boolean {
  return context.one("SELECT 1 FROM inbox WHERE lane = ? AND state = 2 AND due IS NOT NULL LIMIT 1", lane) !== undefined;
}

function membersOf(
  context: WriteContext,
  lane: string,
  head: Head,
  { now, limit }: { readonly now: number; readonly limit: number },
): readonly Member[] {
  if (head.stage === "delivery") {
    const members = context.all<Member>("SELECT sequence, id, unit FROM inbox WHERE unit = ? AND state = 2 ORDER BY sequence", head.unit);
    const leader = context.one<{ event_id: string }>("SELECT event_id FROM units WHERE id = ?", head.unit)?.event_id;
    // What its turn took from a queue may be older than the event that leads it.
    return members.toSorted((a, b) => Number(b.id === leader) - Number(a.id === leader));
  }
  if (isQueueKey(head.gather_key)) return takeNewest(context, { lane, key: head.gather_key }, { now });
  return head.gather_key === null ? [head] : gathered(context, lane, head, Math.max(1, limit));
}

/** A unit that was handed back keeps its row, so that its decisions and previews stay with it. */
function openUnit(context: WriteContext, lane: string, leader: Member, members: readonly Member[]): number {
  const known = members.find((member) => member.unit !== null)?.unit;
  if (known === undefined || known === null) {
    return context.insert("INSERT INTO units (event_id, lane, state) VALUES (?, ?, ?)", leader.id, lane, unitState.running);
  }
  // The limit may leave one of its former events out this time.
  context.run("UPDATE inbox SET unit = NULL WHERE unit = ?", known);
  context.run("UPDATE units SET state = ?, event_id = ?, not_before = 0 WHERE id = ?", unitState.running, leader.id, known);
  return known;
}

function handBackUnit(context: WriteContext, unit: Pick<UnitRow, "id" | "stage">, due: number, uncounted: 0 | 1): void {
  if (unit.stage === "turn") giveBackTaken(context, unit.id, uncounted);
  const events = context.run(
    "UPDATE inbox SET state = ?, attempts = attempts - ? WHERE unit = ? AND state = ?",
    eventState.waiting,
    uncounted,
    unit.id,
    eventState.running,
  );
  context.run("UPDATE units SET state = ?, not_before = ? WHERE id = ?", unitState.waiting, due, unit.id);
  context.count("running", -events);
  context.count("waiting", events);
}

export interface PackedRequeue {
  readonly unitId: string;
  readonly at: number;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly decisions: string | null;
  readonly sent: PackedSent | null;
}

/** The end of a unit on its way to the writer. */
export type PackedSettlement = readonly [
  unitId: string,
  at: number,
  outcome: Outcome,
  reason: string,
  decisions: string | null,
  sessionKey: string | null,
  agentId: string | null,
  reply: string | null,
  sent: PackedSent | null,
  /** Row of the unit, where it is known. */
  row: number | null,
  /** Whether all that it had in the outbox is known to be sent. */
  allSent: boolean,
  unread: 0 | 1,
];

export function packSettlement(
  settlement: Settlement,
  { row, allSent }: { readonly row: number | null; readonly allSent: boolean },
): PackedSettlement {
  const { unitId, at, outcome, reason, decisions, sessionKey = null, agentId = null, reply = null, sent, unread } = settlement;
  const packed = sent === undefined ? null : packSent(sent.rowId, sent.receipt, sent.at);
  const given = unread === true ? 1 : 0;
  return [unitId, at, outcome, reason, packDecisions(decisions), sessionKey, agentId, reply, packed, row, allSent, given];
}

export function unitWrites(context: WriteContext) {
  return {
    begin(): { readonly fence: number; readonly resumed: number } {
      const fence = context.takeFence();
      const running = context.all<Pick<UnitRow, "id" | "stage">>("SELECT id, stage FROM units WHERE state = 1");
      for (const unit of running) handBackUnit(context, unit, 0, 0);
      // Waits of an earlier process end with it: the clock may have been set back since.
      context.run(
        "UPDATE units SET not_before = 0 WHERE not_before > 0 AND id IN (SELECT unit FROM inbox WHERE state = 2 AND due IS NOT NULL)",
      );
      return { fence, resumed: running.length };
    },

    claim([lane, now, limit]: readonly [lane: string, now: number, limit: number]): ClaimResult {
      context.requireFence();
      if (context.one("SELECT 1 FROM units WHERE state = 1 AND lane = ?", lane)) return null;
      const head = headOf(context, lane);
      if (!head) return null;
      const alone = isAlone(context, lane, head);
      const due = alone ? dueSince(head, head.not_before, now) : dueOf(context, lane, head, now);
      if (due > now) return due;

      const members = alone ? [head] : membersOf(context, lane, head, { now, limit });
      const leader = members[0];
      if (!leader) throw new Error(`The lane ${lane} has a head without events.`);
      const id = openUnit(context, lane, leader, members);
      const events: PackedEventRow[] = [];
      for (const { sequence } of members) {
        const event = context.oneList<PackedEventRow>(
          `UPDATE inbox SET state = 3, attempts = attempts + 1, unit = ? WHERE sequence = ? RETURNING ${eventColumns}`,
          id,
          sequence,
        );
        if (event) events.push(event);
      }
      context.count("waiting", -events.length);
      context.count("running", events.length);
      const again = members.some((member) => member.unit !== null);
      const left = again ? context.one<LeftRow>("SELECT stage, previews, ending FROM units WHERE id = ?", id) : undefined;
      const { stage, previews, ending } = left ?? { stage: "turn", previews: null, ending: null };
      const leftOut = stage === "turn" && isQueueKey(head.gather_key) ? leftOutOf(context, head.gather_key) : 0;
      return [stage, previews, ending, leftOut, anyWaits(context, lane) ? 1 : 0, events];
    },

    handBack(input: { readonly unitId: string; readonly due: number; readonly uncount: boolean; readonly decisions: string | null }): void {
      const unit = runningUnit(context, input.unitId);
      handBackUnit(context, unit, input.due, input.uncount ? 1 : 0);
      appendDecisions(context, unit.id, input.decisions);
    },

    requeue({ unitId, at, outcome, reason, decisions, sent }: PackedRequeue): void {
      const unit = runningUnit(context, unitId);
      if (sent !== null) recordSent(context, sent);
      const again = context.run(
        `UPDATE inbox SET state = 2, attempts = attempts - 1, due = NULL WHERE unit = ? AND state = 3 AND ${hasText}`,
        unit.id,
      );
      appendDecisions(context, unit.id, decisions);
      const rest = context.one<{ id: string }>("SELECT id FROM inbox WHERE unit = ? AND state = 3 ORDER BY sequence LIMIT 1", unit.id);
      if (rest === undefined) {
        context.run(
          "UPDATE units SET state = ?, stage = 'turn', not_before = 0, previews = NULL, ending = NULL WHERE id = ?",
          unitState.waiting,
          unit.id,
        );
      } else {
        context.run("UPDATE inbox SET unit = NULL WHERE unit = ? AND state = 2", unit.id);
        const ended = context.run("UPDATE inbox SET state = ? WHERE unit = ? AND state = 3", eventState[outcome], unit.id);
        context.run(
          "UPDATE units SET state = 2, event_id = ?, outcome = ?, reason = ?, settled_at = ?, previews = NULL, ending = NULL WHERE id = ?",
          rest.id,
          outcome,
          reason,
          at,
          unit.id,
        );
        context.count("running", -ended);
        context.count(outcome, ended);
        context.count("kept", ended);
      }
      context.count("running", -again);
      context.count("waiting", again);
    },

    takeQueued({ unitId, queue, now }: { readonly unitId: string; readonly queue: Queue; readonly now: number }): TakenEvents {
      return takeQueued(context, { unit: runningUnit(context, unitId).id, leader: unitId, queue, now });
    },

    settle([unitId, at, outcome, reason, decisions, sessionKey, agentId, reply, sent, row, allSent, unread]: PackedSettlement): boolean {
      context.requireFence();
      // It lies with the platform, whatever became of the unit.
      if (sent !== null) recordSent(context, sent);
      const unit = row ?? unitLedBy(context, unitId)?.id;
      if (unit === undefined) return false;
      if (unread === 1) giveBackTaken(context, unit, 1);
      const ended = context.run(
        `UPDATE units SET state = 2, outcome = ?, reason = ?, settled_at = ?, session_key = ?, agent_id = ?, reply = ?, previews = NULL, ending = NULL
         WHERE id = ? AND event_id = ? AND state = 1`,
        outcome,
        reason,
        at,
        sessionKey,
        agentId,
        reply,
        unit,
        unitId,
      );
      if (ended === 0) return false;
      const events = context.run("UPDATE inbox SET state = ? WHERE unit = ? AND state = 3", eventState[outcome], unit);
      // Nothing is sent for a unit that has ended.
      const unsent = allSent
        ? 0
        : context.run("UPDATE outbox SET state = 3, ended_at = ?, reason = 'unit_ended' WHERE unit = ? AND state < 2", at, unit);
      appendDecisions(context, unit, decisions);
      context.count("running", -events);
      context.count(outcome, events);
      context.count("kept", events);
      context.count("outbox", -unsent);
      return true;
    },

    setPreview({ unitId, preview }: { readonly unitId: string; readonly preview: string }): void {
      context.run("UPDATE units SET previews = ? WHERE id = ?", preview, runningUnit(context, unitId).id);
    },
  };
}
