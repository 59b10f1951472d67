/** Runs one unit from its lane to its end: it passes the stations, or resumes with what an earlier process left in the outbox. */
import type { Unit } from "../state/index.ts";
import { Visit } from "../stations/index.ts";
import type { createHandBack } from "./endings/hand-back.ts";
import type { Ground, Walk } from "./ground.ts";
import type { TurnSlot } from "./lanes/turn-slots.ts";
import type { Acknowledgements } from "./presence/acknowledging.ts";
import type { Said } from "./said.ts";
import { walkStations } from "./walk.ts";

/** The returned function never rejects: a unit is settled, or handed back to the store. */
export function createRun(
  ground: Ground,
  steps: {
    readonly acknowledgements: Pick<Acknowledgements, "mend">;
    readonly finish: (walk: Walk, said: Said) => Promise<void>;
    readonly handBack: ReturnType<typeof createHandBack>;
  },
): (unit: Unit, slot: TurnSlot) => Promise<void> {
  const { acknowledgements, finish, handBack } = steps;
  const { lanes, newTrace, leases } = ground;
  return async (unit, slot) => {
    const walk: Walk = { unit, trace: newTrace(), visit: new Visit(), slot, signal: leases.signal() };
    try {
      const said = unit.stage === "delivery" ? await resume(ground, unit) : await walkStations(ground, walk);
      slot.release();
      try {
        await finish(walk, said);
      } finally {
        if (said.presence !== undefined) said.presence.done();
        else if (unit.attempts > 1 || unit.stage === "delivery") void acknowledgements.mend(unit.id);
      }
    } catch (error) {
      await handBack(unit, error, walk.trace);
      // The unit waits in its lane again; events that its turn took from the session's queue wait there.
      lanes.notify(unit.lane, 0);
      if (walk.sessionKey !== undefined) lanes.notify(walk.sessionKey, 0);
    }
  };
}

/** What an earlier process said and did not send. */
async function resume({ store }: Ground, unit: Unit): Promise<Said> {
  const [rows, failure] = await Promise.all([store.unsent(unit.id), store.failedPart(unit.id)]);
  return { ending: unit.ending ?? { outcome: "answered", reason: "answered" }, rows, ...(failure === null ? {} : { failure }) };
}
