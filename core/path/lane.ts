/** One lane as the process knows it: whether it runs a unit, and until when it sleeps. */

export interface Lane {
  busy: boolean;
  /** Something was accepted while the lane was busy or asleep. */
  again: boolean;
  timer: NodeJS.Timeout | undefined;
  due: number;
  /** It has slept until `due` by the timers, which no clock sets back. */
  slept: boolean;
}

/** How long a lane sleeps at most: the clock may have been set forward. */
const longestSleepMs = 30_000;

/** Wakes a lane at `due`. */
export function sleepUntil(lane: Lane, due: number, { now, wake }: { readonly now: () => number; readonly wake: () => void }): void {
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
