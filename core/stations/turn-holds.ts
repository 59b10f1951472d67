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
  readonly paused: Set<TurnHold>;
  /** Calls of tools that wait at the same time: the first pauses, the last resumes. */
  waiting: number;
}

const held = carried<Held>("held");

function heldBy(visit: Visit): Held {
  const known = visit.get(held);
  if (known !== undefined) return known;
  const fresh: Held = { holds: [], paused: new Set(), waiting: 0 };
  visit.set(held, fresh);
  return fresh;
}

export function addHold(visit: Visit, hold: TurnHold): void {
  heldBy(visit).holds.push(hold);
}

function pause({ holds, paused }: Held): void {
  for (const hold of holds) {
    if (paused.has(hold)) continue;
    paused.add(hold);
    hold.pause();
  }
}

/** Ends early if another call begins to wait meanwhile: its end resumes the turn. */
async function resume(turn: Held): Promise<void> {
  for (const hold of turn.holds) {
    if (!turn.paused.has(hold)) continue;
    await hold.resume();
    if (turn.waiting > 0) return hold.pause();
    turn.paused.delete(hold);
  }
}

/** Waits with everything on hold that the turn keeps. */
export async function whileHeld<Result>(visit: Visit, work: () => Promise<Result>): Promise<Result> {
  const turn = heldBy(visit);
  turn.waiting += 1;
  pause(turn);
  try {
    return await work();
  } finally {
    turn.waiting -= 1;
    if (turn.waiting === 0) await resume(turn);
  }
}
