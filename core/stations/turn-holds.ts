/** What a turn keeps, and gives up while it waits for a person: its time limit, and its place among the turns that run at once. */
import { carried, type Visit } from "./visit.ts";

/** One thing that is put on hold. */
export interface TurnHold {
  pause(): void;
  /** After `pause`: resolves when the turn may go on. */
  resume(): void | Promise<void>;
}

interface Held {
  readonly holds: TurnHold[];
  /** Calls of tools that wait at the same time: the first pauses, the last resumes. */
  waiting: number;
}

const held = carried<Held>("held");

function heldBy(visit: Visit): Held {
  const known = visit.get(held);
  if (known !== undefined) return known;
  const fresh: Held = { holds: [], waiting: 0 };
  visit.set(held, fresh);
  return fresh;
}

export function addHold(visit: Visit, hold: TurnHold): void {
  heldBy(visit).holds.push(hold);
}

/** Waits with everything on hold that the turn keeps. */
export async function whileHeld<Result>(visit: Visit, work: () => Promise<Result>): Promise<Result> {
  const turn = heldBy(visit);
  turn.waiting += 1;
  if (turn.waiting === 1) for (const hold of turn.holds) hold.pause();
  try {
    return await work();
  } finally {
    turn.waiting -= 1;
    if (turn.waiting === 0) for (const hold of turn.holds) await hold.resume();
  }
}
