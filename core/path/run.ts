/**
 * Runs one unit from its lane to its end: it passes the stations, or resumes with what an earlier process left in the
 * outbox.
 */
import type { Unit } from "../state/index.ts";
import { countedAttempt, isFirstRun, Visit } from "../stations/index.ts";
import { exhausted } from "./endings/exhausted.ts";
import type { createHandBack } from "./endings/hand-back.ts";
import { createAttempt } from "./lanes/attempt.ts";
import type { TurnSlot } from "./lanes/turn-slots.ts";
import { persist } from "./patience.ts";
import type { Acknowledgements } from "./presence/acknowledging.ts";
import type { StepDependencies, Walk } from "./step-dependencies.ts";
import type { UnitResult } from "./unit-result.ts";
import { walkStations } from "./walk.ts";

/** The returned function never rejects: a unit is settled, or handed back to the store. */
export function createRun(
  dependencies: StepDependencies,
  steps: {
    readonly acknowledgements: Pick<Acknowledgements, "mend">;
    readonly finish: (walk: Walk, result: UnitResult) => Promise<void>;
    readonly handBack: ReturnType<typeof createHandBack>;
  },
): (unit: Unit, slot: TurnSlot) => Promise<void> {
  const { acknowledgements, finish, handBack } = steps;
  const { lanes, newTrace, leases } = dependencies;
  return async (unit, slot) => {
    const visit = new Visit();
    const attempt = createAttempt(dependencies.store, unit);
    visit.set(countedAttempt, attempt);
    if (unit.isFirstRun === true) visit.set(isFirstRun, true);
    const walk: Walk = { unit, trace: newTrace(), visit, slot, attempt, signal: leases.signal() };
    try {
      const result =
        unit.stage === "delivery" ? await resume(dependencies, walk) : await walkStations(dependencies, walk);
      slot.release();
      try {
        await finish(walk, result);
      } finally {
        if (result.presence !== undefined) result.presence.done();
        else if (unit.attempts > 1 || unit.stage === "delivery") void acknowledgements.mend(unit.id);
      }
    } catch (error) {
      const hold = await handBack(walk, error);
      // The unit waits in its lane again; events that its turn took from the session's queue wait there.
      if (hold === undefined) lanes.notify(unit.lane, 0);
      else lanes.hold(unit.lane, hold);
      if (walk.sessionKey !== undefined) lanes.notify(walk.sessionKey, 0);
    }
  };
}

/** What an earlier process, or another node, said and did not send. */
async function resume(
  { store, files, clock }: StepDependencies,
  { unit, trace, attempt, signal }: Walk,
): Promise<UnitResult> {
  const [unsent, failedPart] = await Promise.all([store.unsent(unit.id), store.failedPart(unit.id)]);
  const { rows, lost, ...stored } = await files.restore(unit.id, unsent);
  for (const { row, node } of lost) {
    const detail = `part ${row.index + 1} has a file of node ${node}, which has been away for ten minutes`;
    trace.add("delivery", { plugin: "core", verdict: "failed", code: "file_lost", detail });
    await persist(() => store.unsendable(row.id, { at: clock.now(), reason: "file_lost" }), signal);
  }
  const failure = failedPart ?? (lost.length > 0 ? "file_lost" : undefined);
  const ending = unit.ending ?? { outcome: "answered", reason: "answered" };
  // A run that only sends the apology does not count, because reports show the number beside the one of the trace.
  if (ending.reason === exhausted) await attempt.returns();
  return { ending, rows, files: stored, failure };
}
