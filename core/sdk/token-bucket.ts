/** The pace that a platform asks for. */
import { pause } from "./waits.ts";

/**
 * A limit of messages, asked for each of them.
 *
 * @example
 * admit: (part, address, signal) => bucket.take(signal),
 */
export interface TokenBucket {
  /**
   * Takes a token. `undefined`: there was one; else a promise that resolves when it is this caller's turn, in the order
   * of the calls, or when the signal aborts. Never rejects, and fits `admit`.
   */
  take(signal: AbortSignal): Promise<void> | undefined;
}

/**
 * Makes a token bucket: `burst` messages at once, then one every `everyMs` milliseconds. It starts full. `now` is the
 * account's clock, in milliseconds. Throws `RangeError` for a burst below 1 or a pace of 0.
 *
 * @example
 * const bucket = createTokenBucket({ burst: 5, everyMs: 2_000, now: account.now });
 */
export function createTokenBucket({
  burst,
  everyMs,
  now,
}: {
  readonly burst: number;
  readonly everyMs: number;
  now(): number;
}): TokenBucket {
  if (!(burst >= 1) || !(everyMs > 0))
    throw new RangeError(`A token bucket needs a burst of at least 1 and a pace above 0 ms`);
  /** When the bucket is full again; a token that is taken puts it off. */
  let last = now();
  let fullAt = last;
  return {
    take(signal) {
      const at = now();
      // A clock that was set back must not stop the messages.
      if (at < last) fullAt -= last - at;
      last = at;
      fullAt = Math.max(fullAt, at) + everyMs;
      const waitMs = fullAt - at - everyMs * burst;
      return waitMs <= 0 ? undefined : pause(waitMs, signal);
    },
  };
}
