/**
 * Units that run: what their runner notes of them, and how it gives them back. `claim.ts` begins them, `settlement.ts`
 * ends them.
 */
import type { Outcome } from "../../../contract/index.ts";
import type { Queue } from "../../queue-key.ts";
import type { Unit } from "../../store.ts";
import { requireWholeState } from "../copying/writes.ts";
import { eventState, unitState } from "../database/schema.ts";
import type { WriteContext } from "../database/writer-database.ts";
import { appendDecisions } from "../records/decisions.ts";
import { type PackedSent, recordSent } from "../records/sent.ts";
import { hasText } from "./event-queue.ts";
import { giveBackTaken, type TakenEvents, takeQueued } from "./taken-events.ts";

export interface UnitRow {
  readonly id: number;
  readonly event_id: string;
  readonly state: number;
  readonly stage: Unit["stage"];
  /** How often an operator submitted the event that leads it again. */
  readonly replays: number;
}

/** The unit that an event leads. */
export function unitLedBy(context: WriteContext, unitId: string): UnitRow | undefined {
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

export function unitWrites(context: WriteContext) {
  return {
    begin(): { readonly fence: number; readonly resumed: number } {
      requireWholeState(context);
      const fence = context.takeFence();
      const running = context.all<Pick<UnitRow, "id" | "stage">>("SELECT id, stage FROM units WHERE state = 1");
      for (const unit of running) handBackUnit(context, unit, 0, 0);
      // Waits of an earlier process end with it: the clock may have been set back since.
      context.run(
        "UPDATE units SET not_before = 0 WHERE not_before > 0 AND id IN (SELECT unit FROM inbox WHERE state " +
          "= 2 AND due IS NOT NULL)",
      );
      return { fence, resumed: running.length };
    },

    handBack(input: {
      readonly unitId: string;
      readonly due: number;
      readonly uncount: boolean;
      readonly decisions: string | null;
    }): void {
      const unit = runningUnit(context, input.unitId);
      handBackUnit(context, unit, input.due, input.uncount ? 1 : 0);
      appendDecisions(context, unit.id, input.decisions);
    },

    setAttempts({ unitId, attempts }: { readonly unitId: string; readonly attempts: number }): void {
      context.requireFence();
      const unit = unitLedBy(context, unitId);
      if (unit?.state !== unitState.running) return;
      context.run(
        "UPDATE inbox SET attempts = attempts + ? - (SELECT attempts FROM inbox WHERE id = ?) WHERE unit = " +
          "? AND state = 3",
        attempts,
        unitId,
        unit.id,
      );
    },

    requeue({ unitId, at, outcome, reason, decisions, sent }: PackedRequeue): void {
      const unit = runningUnit(context, unitId);
      if (sent !== null) recordSent(context, sent);
      const again = context.run(
        `UPDATE inbox SET state = 2, attempts = attempts - 1, due = NULL WHERE unit = ? AND state = 3 AND ${hasText}`,
        unit.id,
      );
      appendDecisions(context, unit.id, decisions);
      const rest = context.one<{ id: string }>(
        "SELECT id FROM inbox WHERE unit = ? AND state = 3 ORDER BY sequence LIMIT 1",
        unit.id,
      );
      if (rest === undefined) {
        context.run(
          "UPDATE units SET state = ?, stage = 'turn', not_before = 0, previews = NULL, ending = NULL WHERE id = ?",
          unitState.waiting,
          unit.id,
        );
      } else {
        context.run("UPDATE inbox SET unit = NULL WHERE unit = ? AND state = 2", unit.id);
        const ended = context.run(
          "UPDATE inbox SET state = ? WHERE unit = ? AND state = 3",
          eventState[outcome],
          unit.id,
        );
        context.run(
          "UPDATE units SET state = 2, event_id = ?, outcome = ?, reason = ?, settled_at = ?, previews = " +
            "NULL, ending = NULL WHERE id = ?",
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

    takeQueued({
      unitId,
      queue,
      now,
    }: {
      readonly unitId: string;
      readonly queue: Queue;
      readonly now: number;
    }): TakenEvents {
      return takeQueued(context, { unit: runningUnit(context, unitId).id, leader: unitId, queue, now });
    },

    setPreview({ unitId, preview }: { readonly unitId: string; readonly preview: string }): void {
      context.run("UPDATE units SET previews = ? WHERE id = ?", preview, runningUnit(context, unitId).id);
    },
  };
}
