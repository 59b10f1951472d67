/** Ids that sort by time: milliseconds, then random digits. */
import { randomBytes } from "node:crypto";

const timeDigits = 9;
const poolBytes = 4_096;
const randomBytesEach = 8;

/** Creates ids in lower-case base 36. 64 random bits make them unique across processes. */
export function createIds(now: () => number): () => string {
  let pool = randomBytes(poolBytes);
  let at = 0;
  let last = 0;
  return () => {
    if (at + randomBytesEach > poolBytes) {
      pool = randomBytes(poolBytes);
      at = 0;
    }
    const random = pool.readBigUInt64BE(at).toString(36).padStart(13, "0");
    at += randomBytesEach;
    // Even if the clock is set back, a new id must not sort before earlier ones.
    last = Math.max(last, now());
    return last.toString(36).padStart(timeDigits, "0") + random;
  };
}
