/** Counts wrong codes and wrong secrets for each client, so that no client can try many. */

const most = 10;
const windowMs = 600_000;
const mostClients = 1_000;

export interface Failures {
  /** Whole seconds that a client has to wait; 0: it may try. */
  wait(client: string): number;
  add(client: string): void;
}

/** `now`: a monotonic clock, because a jump of the wall clock must neither end a wait nor make it last. */
export function createFailures(now: () => number): Failures {
  // In the order of their beginning: the first one is the oldest, and is forgotten first.
  const windows = new Map<string, { readonly until: number; count: number }>();
  return {
    wait(client) {
      const window = windows.get(client);
      if (window === undefined || window.count < most || window.until <= now()) return 0;
      return Math.ceil((window.until - now()) / 1_000);
    },
    add(client) {
      const window = windows.get(client);
      if (window !== undefined && window.until > now()) {
        window.count += 1;
        return;
      }
      windows.delete(client);
      const [oldest] = windows.keys();
      if (windows.size >= mostClients && oldest !== undefined) windows.delete(oldest);
      windows.set(client, { until: now() + windowMs, count: 1 });
    },
  };
}
