/**
 * What a turn keeps, and gives up while it waits for a person: its time limit, its place among the turns that run at
 * once, and the count of its attempt.
 */
import { carried, type Visit } from "./visit.ts";

/** One thing that is put on hold. */
export interface TurnHold {
  pause(): void;
  /** After `pause`: resolves when the turn may go on. */
  resume(): void | Promise<void>;
}

/** Whether the attempt of a unit counts if the process ends now. It does not while the unit only waits. */
export interface CountedAttempt {
  /**
   * Waits or works. Resolves when the store knows it, so that nothing runs uncounted; `undefined` if the store knows it
   * already. A wait that cannot be written counts.
   */
  begin(what: "wait" | "work"): Promise<void> | undefined;
  end(what: "wait" | "work"): Promise<void> | undefined;
  /**
   * The run only takes up an earlier one, until it waits or works: it returns to a question that is still open, or
   * sends the apology of a unit that used up its attempts.
   */
  returns(): Promise<void> | undefined;
  /** Waits for what may take long, such as another turn of the session. A short wait counts. */
  waitFor<Result>(waited: Promise<Result>): Promise<Result>;
}

export const countedAttempt = carried<CountedAttempt>("countedAttempt");

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

/**
 * Waits with everything on hold that the turn keeps, for a person or for anything else that may take long. If the
 * process ends meanwhile, the attempt does not count.
 */
export async function whileHeld<Result>(visit: Visit, work: () => Promise<Result>): Promise<Result> {
  const turn = heldBy(visit);
  const attempt = visit.get(countedAttempt);
  turn.waiting += 1;
  pause(turn);
  try {
    await attempt?.begin("wait");
    return await work();
  } finally {
    turn.waiting -= 1;
    if (turn.waiting === 0) await resume(turn);
    await attempt?.end("wait");
  }
}

/**
 * Runs what may end the process, such as a tool: meanwhile the attempt counts, also if another call of the turn waits.
 */
export async function whileWorking<Result>(visit: Visit, work: () => Promise<Result>): Promise<Result> {
  const attempt = visit.get(countedAttempt);
  await attempt?.begin("work");
  try {
    return await work();
  } finally {
    await attempt?.end("work");
  }
}
