/** At most this many in any window of this length, however long each of them is on its way. */

/** Something that counts: booked, then under way, then over. */
export interface Slot {
  /** When it was booked, began or ended: the last of them. */
  at: number;
  underWay: boolean;
  /** 0: an edit. */
  readonly messages: number;
}

export interface Window {
  /** Milliseconds until so many more fit in, at the soonest; more than fit in at all are as many as do. */
  delay(at: number, count?: number): number;
  /** Counts the slot as so many, from its time on, whenever that is changed. */
  add(slot: Slot, count?: number): void;
  /** Nothing that was added matters any more. */
  isIdle(at: number): boolean;
}

/** What is under way for longer has come into effect, or will not. */
const longestMs = 10_000;

/** The latest moment at which it can have come into effect, seen from now. */
const effect = ({ at, underWay }: Slot, now: number) => (underWay ? Math.min(now, at + longestMs) : at);

/** No more than `most` in `ms`; 0: as many as one likes. */
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
      const oldestFirst = [...counts].map(([slot, held]) => [effect(slot, at), held] as const).sort(([a], [b]) => a - b);
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
