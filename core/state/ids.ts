/** Ids that sort by time: milliseconds, then digits that begin at random in each millisecond and grow within it. */
import { randomBytes } from "node:crypto";

const timeDigits = 9;
const poolBytes = 4_096;
const randomBytesEach = 8;

/**
 * Creates ids in lower-case base 36, in the order in which they sort. 63 random bits make them unique across processes.
 */
export function createIds(now: () => number): () => string {
  let pool = randomBytes(poolBytes);
  let at = 0;
  let last = 0;
  let rest = 0n;
  return () => {
    // Even if the clock is set back, a new id must not sort before earlier ones.
    const time = Math.max(last, now());
    rest = time === last ? rest + 1n : random();
    last = time;
    return time.toString(36).padStart(timeDigits, "0") + rest.toString(36).padStart(13, "0");
  };

  function random(): bigint {
    if (at + randomBytesEach > poolBytes) {
      pool = randomBytes(poolBytes);
      at = 0;
    }
    at += randomBytesEach;
    // The highest bit is left for what is added within a millisecond.
    return pool.readBigUInt64BE(at - randomBytesEach) >> 1n;
  }
}

/** When an id was created, epoch milliseconds. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, timeDigits), 36);
