/** Counts each client's wrong codes and secrets, so that no client can try many. */

const most = 10;
const windowMs = 600_000;
const mostClients = 1_000;

export interface Failures {
  /** Seconds that the client must wait; 0 if it may try now. */
  wait(client: string): number;
  add(client: string): void;
  /** Undoes `add` for an attempt that did not fail. */
  takeBack(client: string): void;
}

/**
 * Creates the counter. `now` must be a monotonic clock, because a jump of the wall clock must neither end nor extend a
 * wait.
 */
export function createFailures(now: () => number): Failures {
  // In order of their start, so that the first entry is the oldest and is removed first.
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
    takeBack(client) {
      const window = windows.get(client);
      if (window !== undefined && window.count > 0) window.count -= 1;
    },
  };
}
