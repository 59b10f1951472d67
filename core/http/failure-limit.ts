/**
 * Counts failed authentications for each client in fixed windows. Both tables are bounded; the oldest entry is removed first.
 *
 * A credential is identified by its kind and secret, so that success with one does not excuse guesses at another.
 */

export interface FailureLimit {
  /**
   * Seconds until the client's window ends, if it has failed too often to try this credential; otherwise 0. A client that succeeded with
   * the credential within the last hour is never locked out of it.
   */
  locked(client: string, credential: string): number;
  /**
   * Counts one failure. `wait`: 0 while the client is within its limit, else whole seconds until its window ends. `first`: this failure is
   * the first beyond the limit. `lock`: from now on, the client's credentials are not compared.
   */
  fail(client: string, credential: string): { readonly wait: number; readonly first: boolean; readonly lock: boolean };
  /** Clears the failures with this credential only, and remembers the success for an hour. */
  succeed(client: string, credential: string): void;
  /** True if no client has failures. Then no client is locked, and its address need not be determined. */
  isEmpty(): boolean;
}

interface Window {
  readonly until: number;
  total: number;
  readonly counts: Map<string, number>;
}

const within = { wait: 0, first: false, lock: false } as const;
const trustMs = 3_600_000;
/** A success is recorded again only after this time, so that a busy client costs one look-up for each request. */
const renewMs = 60_000;

export function createFailureLimit(options: {
  readonly now: () => number;
  readonly failures?: number;
  readonly lockAfter?: number;
  readonly windowMs?: number;
  readonly maxClients?: number;
}): FailureLimit {
  const { now, failures = 20, lockAfter = 200, windowMs = 60_000, maxClients = 10_000 } = options;
  // Both maps are in order of time, so that the first entry is the oldest.
  const windows = new Map<string, Window>();
  const successes = new Map<string, Map<string, number>>();
  const secondsLeft = ({ until }: Window, at: number): number => Math.max(1, Math.ceil((until - at) / 1_000));

  return {
    locked(client, credential) {
      const window = windows.get(client);
      if (window === undefined || window.total < lockAfter) return 0;
      const at = now();
      if (at >= window.until) return 0;
      const succeeded = successes.get(client)?.get(credential);
      return succeeded !== undefined && at - succeeded <= trustMs ? 0 : secondsLeft(window, at);
    },
    fail(client, credential) {
      const at = now();
      const known = windows.get(client);
      if (known !== undefined && at < known.until) {
        known.total += 1;
        known.counts.set(credential, (known.counts.get(credential) ?? 0) + 1);
        if (known.total <= failures) return within;
        return { wait: secondsLeft(known, at), first: known.total === failures + 1, lock: known.total === lockAfter };
      }
      windows.delete(client);
      dropOldest(windows, maxClients);
      windows.set(client, { until: at + windowMs, total: 1, counts: new Map([[credential, 1]]) });
      return within;
    },
    succeed(client, credential) {
      const at = now();
      const own = successes.get(client);
      const before = own?.get(credential);
      if (before === undefined || at - before >= renewMs) {
        // This also drops secrets that were replaced, once their hour has passed.
        const recent = [...(own ?? [])].filter(([, succeeded]) => at - succeeded <= trustMs);
        successes.delete(client);
        dropOldest(successes, maxClients);
        successes.set(client, new Map([...recent, [credential, at]]));
      }
      const window = windows.get(client);
      if (window === undefined) return;
      window.total -= window.counts.get(credential) ?? 0;
      window.counts.delete(credential);
      if (window.total === 0) windows.delete(client);
    },
    isEmpty() {
      return windows.size === 0;
    },
  };
}

function dropOldest(table: Map<string, unknown>, max: number): void {
  if (table.size < max) return;
  const [oldest] = table.keys();
  if (oldest !== undefined) table.delete(oldest);
}
