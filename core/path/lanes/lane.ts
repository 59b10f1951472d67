/** One lane as the process knows it: whether a unit is running, and until when the lane sleeps. */
import type { Hold } from "../patience.ts";

export interface Lane {
  busy: boolean;
  /** An event was accepted while the lane was busy or asleep. */
  again: boolean;
  timer: NodeJS.Timeout | undefined;
  due: number;
  /** The next unit has its last attempt, and runs while no other such unit does. */
  isLastAttempt: boolean;
  /** The timers, which no clock change affects, have reached `due`. */
  slept: boolean;
  /** Until it is over, neither new events nor time make the lane ask the store. */
  hold?: Hold | undefined;
}

/**
 * Whether the lane may ask the store. Ends the hold if it is over: the unit is then claimed as of the time until which
 * it was to wait.
 */
export function mayLook(lane: Lane): boolean {
  const { hold } = lane;
  if (hold === undefined) return true;
  if (!hold.wait.mayGo()) return false;
  endHold(lane);
  return true;
}

export function endHold(lane: Lane): void {
  if (lane.hold === undefined) return;
  lane.due = lane.hold.due;
  lane.slept = true;
  lane.hold = undefined;
}

/** Longest sleep of a lane: the clock may have been set forward. */
const longestSleepMs = 30_000;

/** Wakes a lane at `due`. */
export function sleepUntil(
  lane: Lane,
  due: number,
  { now, wake }: { readonly now: () => number; readonly wake: () => void },
): void {
  lane.due = due;
  sleepOn(Math.max(due - now(), 1));

  function sleepOn(ms: number): void {
    clearTimeout(lane.timer);
    const next = Math.min(ms, longestSleepMs);
    lane.timer = setTimeout(() => {
      lane.slept = next === ms;
      if (lane.slept || lane.due <= now()) wake();
      else sleepOn(ms - next);
    }, next);
    lane.timer.unref();
  }
}
