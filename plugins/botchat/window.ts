/** So many in so long, whichever window of that length one looks at; asked and counted in the same few steps however many there are. */

export interface Window {
  /** Milliseconds until so many more fit in; more than fit in at all are as many as do. */
  delay(at: number, count?: number): number;
  book(at: number, count?: number): void;
  /** What was booked last came into effect only now. */
  stamp(at: number): void;
  /** Nothing that is booked matters any more. */
  isIdle(at: number): boolean;
}

/** No more than `most` in `ms`; 0: as many as one likes. */
export function createWindow(most: number, ms: number): Window | undefined {
  if (most <= 0) return undefined;
  /** The last `most` times, in a ring: `next` is the oldest of them. */
  const times: number[] = [];
  let next = 0;
  return {
    delay(at, count = 1) {
      const time = times[(next + Math.min(count, most) - 1) % most];
      return time === undefined ? 0 : Math.max(0, time + ms - at);
    },
    book(at, count = 1) {
      for (let booked = 0; booked < Math.min(count, most); booked += 1) {
        times[next] = at;
        next = (next + 1) % most;
      }
    },
    stamp(at) {
      const newest = (next + most - 1) % most;
      if (times[newest] !== undefined) times[newest] = Math.max(times[newest], at);
    },
    isIdle(at) {
      const newest = times[(next + most - 1) % most];
      return newest === undefined || newest + ms <= at;
    },
  };
}
