/** Counts failed authentications for each client, in fixed windows. Bounded: the oldest client is forgotten first. */

export interface FailureLimit {
  /**
   * Counts one failure. `wait`: 0 while the client is within its budget, else the whole seconds until its window ends;
   * `first`: this failure is the first beyond the budget.
   */
  fail(client: string): { readonly wait: number; readonly first: boolean };
  /** Forgets the failures of a client that has shown a correct credential. */
  clear(client: string): void;
  /** True while nobody has failed: then there is nothing to clear, and no address to work out. */
  isEmpty(): boolean;
  /** Clients that are remembered. */
  size(): number;
}

const within = { wait: 0, first: false } as const;

export function createFailureLimit(options: {
  readonly now: () => number;
  readonly failures?: number;
  readonly windowMs?: number;
  readonly maxClients?: number;
}): FailureLimit {
  const { now, failures = 20, windowMs = 60_000, maxClients = 10_000 } = options;
  // Insertion order is the order of the windows' beginnings, so the first entry is always the oldest.
  const windows = new Map<string, { count: number; readonly until: number }>();
  return {
    fail(client) {
      const at = now();
      const known = windows.get(client);
      if (known !== undefined && at < known.until) {
        known.count += 1;
        if (known.count <= failures) return within;
        return { wait: Math.max(1, Math.ceil((known.until - at) / 1_000)), first: known.count === failures + 1 };
      }
      windows.delete(client);
      if (windows.size >= maxClients) {
        const [oldest] = windows.keys();
        if (oldest !== undefined) windows.delete(oldest);
      }
      windows.set(client, { count: 1, until: at + windowMs });
      return within;
    },
    clear(client) {
      windows.delete(client);
    },
    isEmpty() {
      return windows.size === 0;
    },
    size() {
      return windows.size;
    },
  };
}
