/** The end of a unit, once what it says is with the platform. */
import type { Outcome } from "../../../contract/index.ts";
import type { Settlement } from "../../store.ts";
import { eventState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions, packDecisions } from "../records/decisions.ts";
import { type PackedSent, packSent, recordSent } from "../records/sent.ts";
import { giveBackTaken } from "./taken-events.ts";
import { unitLedBy } from "./units.ts";

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
  /** Row of the unit, if known. */
  row: number | null,
  /** Whether all its messages in the outbox are known to be sent. */
  allSent: boolean,
  unread: 0 | 1,
];

export function packSettlement(
  settlement: Settlement,
  { row, allSent }: { readonly row: number | null; readonly allSent: boolean },
): PackedSettlement {
  const {
    unitId,
    at,
    outcome,
    reason,
    decisions,
    sessionKey = null,
    agentId = null,
    reply = null,
    sent,
    unread,
  } = settlement;
  const packed = sent === undefined ? null : packSent(sent.rowId, sent.receipt, sent.at);
  const given = unread === true ? 1 : 0;
  return [
    unitId,
    at,
    outcome,
    reason,
    packDecisions(decisions),
    sessionKey,
    agentId,
    reply,
    packed,
    row,
    allSent,
    given,
  ];
}

export function settlementWrites(context: WriteContext) {
  return {
    settle([
      unitId,
      at,
      outcome,
      reason,
      decisions,
      sessionKey,
      agentId,
      reply,
      sent,
      row,
      allSent,
      unread,
    ]: PackedSettlement): boolean {
      context.requireFence();
      // The platform has it, whatever became of the unit.
      if (sent !== null) recordSent(context, sent);
      const unit = row ?? unitLedBy(context, unitId)?.id;
      if (unit === undefined) return false;
      if (unread === 1) giveBackTaken(context, unit, 1);
      const ended = context.run(
        `UPDATE units SET state = 2, outcome = ?, reason = ?, settled_at = ?, session_key = ?, agent_id = ?,
        reply = ?, previews = NULL, ending = NULL
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
        : context.run(
            "UPDATE outbox SET state = 3, ended_at = ?, reason = 'unit_ended' WHERE unit = ? AND state < 2",
            at,
            unit,
          );
      appendDecisions(context, unit, decisions);
      context.count("running", -events);
      context.count(outcome, events);
      context.count("kept", events);
      context.count("outbox", -unsent);
      return true;
    },
  };
}
