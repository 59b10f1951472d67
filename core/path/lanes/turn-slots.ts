/** Slots for running turns: as many at a time as the configuration allows, granted in order. */

/** The right to run a turn, released as soon as the turn is done, before its parts are sent. */
export interface TurnSlot {
  release(): void;
  /** Releases the slot until `take`, because the turn has to wait for something else. */
  pause(): void;
  /** After `pause`: resolves when the turn may run again. After `release` it takes nothing: the turn has ended. */
  take(): Promise<void>;
}

export interface Slots {
  /** `undefined` if all are taken, or others wait. */
  takeNow(): TurnSlot | undefined;
  take(): TurnSlot | Promise<TurnSlot>;
}

/** At most `limit()` at once. */
export function createSlots(limit: () => number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const isFree = () => taken < limit() && waiting.length === 0;
  /** Resolves with the next free slot, already counted as taken. */
  const next = () =>
    new Promise<void>((resolve) =>
      waiting.push(() => {
        taken += 1;
        resolve();
      }),
    );
  const giveBack = () => {
    taken -= 1;
    while (taken < limit() && waiting.length > 0) waiting.shift()?.();
  };
  const counted = (): TurnSlot => {
    let held = true;
    let hasEnded = false;
    const pause = () => {
      if (!held) return;
      held = false;
      giveBack();
    };
    return {
      release() {
        hasEnded = true;
        pause();
      },
      pause,
      async take() {
        if (held || hasEnded) return;
        if (isFree()) taken += 1;
        else await next();
        // It may have ended, or have been taken by another call, while this one waited.
        if (held) return void giveBack();
        held = true;
        if (hasEnded) pause();
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

/** For control commands, which never wait for a turn. */
export const freeSlot: TurnSlot = { release() {}, pause() {}, async take() {} };

/** A slot of a turn that also holds `other`. */
export function withOther(slot: TurnSlot, other: TurnSlot): TurnSlot {
  return {
    release() {
      slot.release();
      other.release();
    },
    pause() {
      slot.pause();
      other.pause();
    },
    // In the order in which a lane takes them, so that no two wait for each other.
    async take() {
      await other.take();
      await slot.take();
    },
  };
}
