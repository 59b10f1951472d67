/** A sliding window: at most `most` entries in any `ms`, however long each call takes. */

/** A counted entry: booked, then in progress, then finished. */
export interface Slot {
  /** When it was booked, began or ended, whichever is the latest. */
  at: number;
  underWay: boolean;
  /** 0: an edit. */
  readonly messages: number;
}

export interface Window {
  /** Milliseconds until this many more fit, at the earliest. A count above the maximum is treated as the maximum. */
  delay(at: number, count?: number): number;
  /** Counts the slot this many times, at its time, even if that changes later. */
  add(slot: Slot, count?: number): void;
  /** Whether no added entry matters any longer. */
  isIdle(at: number): boolean;
}

/** A call in progress for longer than this has taken effect, or will not. */
const longestMs = 10_000;

/** The latest time at which it can have taken effect, as seen from now. */
const effect = ({ at, underWay }: Slot, now: number) => (underWay ? Math.min(now, at + longestMs) : at);

/** At most `most` in `ms`; 0: no limit. */
export function createWindow(most: number, ms: number): Window | undefined {
  if (most <= 0) return undefined;
  const counts = new Map<Slot, number>();

  function forget(at: number): void {
    for (const slot of counts.keys()) if (effect(slot, at) + ms <= at) counts.delete(slot);
  }

  return {
    delay(at, count = 1) {
      forget(at);
      let over = Math.min(count, most) - most;
      for (const held of counts.values()) over += held;
      if (over <= 0) return 0;
      const oldestFirst = [...counts]
        .map(([slot, held]) => [effect(slot, at), held] as const)
        .sort(([a], [b]) => a - b);
      for (const [time, held] of oldestFirst) {
        over -= held;
        if (over <= 0) return time + ms - at;
      }
      return 0;
    },
    add(slot, count = 1) {
      counts.set(slot, Math.min(count, most));
    },
    isIdle(at) {
      forget(at);
      return counts.size === 0;
    },
  };
}
