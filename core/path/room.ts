/** Room for more units: sources that ask for their events wait while a crowd of units is under way. */

/**
 * With more units than that under way, sources that ask for their events take in no more: each unit is in memory, and there may be
 * thousands of chats. Fewer would leave the disk and the platform with too little to do at a time; and what is under way may wait for a
 * platform that is away, so the wait is short: the next event may be a `/stop`.
 */
const crowd = 96;
const roomMs = 100;

export interface Room {
  /** `undefined`: there is room. Else resolves when there is again, or after a moment. */
  wait(): Promise<void> | undefined;
  /** A unit has ended. */
  look(): void;
}

/** `active`: how many units are under way. */
export function createRoom(active: () => number): Room {
  /** What those who wait for room wait for. */
  let waiting: { readonly promise: Promise<void>; readonly resolve: () => void; readonly timer: NodeJS.Timeout } | undefined;

  function give(): void {
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    waiting.resolve();
    waiting = undefined;
  }

  return {
    wait() {
      if (active() <= crowd) return undefined;
      if (waiting === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting = { promise, resolve, timer: setTimeout(give, roomMs).unref() };
      }
      return waiting.promise;
    },
    look() {
      if (active() <= crowd) give();
    },
  };
}
