/** Ids that sort by time: milliseconds, then randomness that grows within one millisecond. */
import { randomBytes } from "node:crypto";

const timeDigits = 9;
const poolBytes = 4_096;
const randomBytesEach = 8;

/** Lower-case base 36; unique over processes by 64 random bits. */
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
    // A clock that is set back must not make ids that sort before those already given.
    last = Math.max(last, now());
    return last.toString(36).padStart(timeDigits, "0") + random;
  };
}
