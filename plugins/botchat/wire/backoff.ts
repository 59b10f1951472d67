/** Waits between retries. */
import { randomInt } from "node:crypto";

export interface Backoff {
  /** Milliseconds to wait before the next attempt. Each call counts one more failure. */
  next(): number;
  /** Resets the wait after a success. */
  reset(): void;
}

/** Creates a backoff. A `jitter` of 0.25 adds up to a quarter, so that many bots do not reconnect simultaneously. */
export function createBackoff(options: {
  readonly minMs: number;
  readonly maxMs: number;
  readonly jitter?: number;
}): Backoff {
  let current = options.minMs;
  return {
    next() {
      const wait = Math.min(current, options.maxMs);
      current = Math.min(current * 1.8, options.maxMs);
      const spread = Math.floor(wait * (options.jitter ?? 0.25));
      return Math.round(wait) + (spread > 0 ? randomInt(spread) : 0);
    },
    reset() {
      current = options.minMs;
    },
  };
}
