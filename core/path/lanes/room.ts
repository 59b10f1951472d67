/** Limits the units in progress: polling sources wait while there are too many. */

/**
 * If more units than this are in progress, polling sources fetch no more, because each unit is in memory and there may
 * be thousands of chats. A lower limit would leave the disk and the platform idle. Units in progress may be waiting for
 * an unreachable platform, so the wait is short: the next event may be a `/stop`.
 */
const crowd = 96;
const roomMs = 100;

export interface Room {
  /** `undefined` if there is room. Otherwise resolves when there is room again, or after a moment. */
  wait(): Promise<void> | undefined;
  /** Called when a unit has ended. */
  look(): void;
}

/** `active` returns the number of units in progress. */
export function createRoom(active: () => number): Room {
  /** The promise that all waiting sources share. */
  let waiting:
    | { readonly promise: Promise<void>; readonly resolve: () => void; readonly timer: NodeJS.Timeout }
    | undefined;

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
