/**
 * Counts failed authentications for each client, in fixed windows. Both tables are bounded: the oldest entry is removed first.
 *
 * A credential is named by its kind and its secret, so a success with one neither clears nor excuses guesses at another.
 */

export interface FailureLimit {
  /**
   * Whole seconds until the client's window ends, when it has failed so often that this credential must not be compared; else 0.
   * A client that succeeded with the credential in the last hour is never locked out of it.
   */
  locked(client: string, credential: string): number;
  /**
   * Counts one failure. `wait`: 0 while the client is within its budget, else the whole seconds until its window ends.
   * `first`: this failure is the first beyond the budget. `lock`: from now on nothing of the client is compared.
   */
  fail(client: string, credential: string): { readonly wait: number; readonly first: boolean; readonly lock: boolean };
  /** Clears the failures of this credential alone, and remembers the success for an hour. */
  succeed(client: string, credential: string): void;
  /** True while no client has failed: then none is locked out, and no address has to be determined. */
  isEmpty(): boolean;
}

interface Window {
  readonly until: number;
  total: number;
  readonly counts: Map<string, number>;
}

const within = { wait: 0, first: false, lock: false } as const;
const trustMs = 3_600_000;
/** A success is written down again only after this time: a busy client costs one look-up for each request. */
const renewMs = 60_000;

export function createFailureLimit(options: {
  readonly now: () => number;
  readonly failures?: number;
  readonly lockAfter?: number;
  readonly windowMs?: number;
  readonly maxClients?: number;
}): FailureLimit {
  const { now, failures = 20, lockAfter = 200, windowMs = 60_000, maxClients = 10_000 } = options;
  // Insertion order is the order of time in both, so the first entry is always the oldest.
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
        // Secrets that were replaced leave with their hour.
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
