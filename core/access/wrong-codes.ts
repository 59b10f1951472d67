/**
 * Guessed pairing codes: ten wrong ones within ten minutes lock approving for ten minutes, in each process that shares
 * the store.
 */
import type { Store } from "../state/index.ts";
import { pairingNamespace } from "./pairing-namespace.ts";

const maxWrongCodes = 10;
const lockMs = 10 * 60_000;
const wrongKey = "wrong-codes";

interface WrongCodes {
  readonly count: number;
  /** When the first of them was entered, by the wall clock, because processes of the command line count them, too. */
  readonly since: number;
  readonly lockedUntil: number;
}

/** Of each channel, or of whatever else a caller counts for. */
export interface WrongCodeLimit {
  isLocked(channel: string): Promise<boolean>;
  count(channel: string): Promise<void>;
}

export function createWrongCodeLimit({
  store,
  now,
  namespace,
}: {
  readonly store: Store;
  readonly now: () => number;
  /** Absent: that of the pairing of the channel. */
  readonly namespace?: string;
}): WrongCodeLimit {
  const at = (scope: string): readonly [namespace: string, key: string] =>
    namespace === undefined ? [pairingNamespace(scope), wrongKey] : [namespace, `${wrongKey}:${scope}`];
  return {
    async isLocked(channel) {
      const wrong = (await store.get(...at(channel))) as WrongCodes | null;
      if (wrong === null || wrong.lockedUntil <= now()) return false;
      // The clock was set back: the ten minutes begin at this moment.
      if (wrong.lockedUntil - now() > lockMs) {
        const again: WrongCodes = { ...wrong, since: now(), lockedUntil: now() + lockMs };
        await store.set(...at(channel), { ...again }, { expiresAt: now() + 2 * lockMs });
      }
      return true;
    },
    async count(channel) {
      await store.update(
        ...at(channel),
        (value) => {
          const seen = (value as WrongCodes | null) ?? { count: 0, since: now(), lockedUntil: 0 };
          const fresh = seen.since + lockMs > now() ? seen : { count: 0, since: now(), lockedUntil: 0 };
          const count = fresh.count + 1;
          const since = Math.min(fresh.since, now());
          return { count, since, lockedUntil: count >= maxWrongCodes ? now() + lockMs : fresh.lockedUntil };
        },
        { expiresAt: now() + 2 * lockMs },
      );
    },
  };
}
