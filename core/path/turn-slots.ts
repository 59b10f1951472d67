/** The places of turns that run: as many at a time as the configuration allows, served in order. */

/** The right to run a turn; given back as soon as the turn is done, before its parts are sent. */
export interface TurnSlot {
  release(): void;
  /** After `release`: resolves when it may run a turn again. */
  take(): Promise<void>;
}

export interface Slots {
  /** `undefined`: all are taken, or others wait. */
  takeNow(): TurnSlot | undefined;
  take(): TurnSlot | Promise<TurnSlot>;
}

/** At most `limit()` at once. */
export function createSlots(limit: () => number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const isFree = () => taken < limit() && waiting.length === 0;
  /** The next free one, counted as taken. */
  const next = () =>
    new Promise<void>((resolve) =>
      waiting.push(() => {
        taken += 1;
        resolve();
      }),
    );
  const counted = (): TurnSlot => {
    let held = true;
    return {
      release() {
        if (!held) return;
        held = false;
        taken -= 1;
        while (taken < limit() && waiting.length > 0) waiting.shift()?.();
      },
      async take() {
        if (isFree()) taken += 1;
        else await next();
        held = true;
      },
    };
  };
  const takeNow = () => {
    if (!isFree()) return undefined;
    taken += 1;
    return counted();
  };
  return { takeNow, take: () => takeNow() ?? next().then(counted) };
}

/** For control commands, which never wait behind a turn. */
export const freeSlot: TurnSlot = { release() {}, async take() {} };
