/**
 * Bodies that are read before their sender is known, because the signature covers the bytes. Their number is limited
 * for each client and in total, because each uses memory until it is complete or too late. A new one is always
 * accepted, and the oldest unfinished one is dropped: slow senders must not keep a valid one out.
 */
export interface PendingBodies {
  /**
   * `drop` is called if the body has to make room. Returns a function to call when the body is complete or given up.
   * Idempotent.
   */
  begin(client: string, drop: () => void): () => void;
}

export function createPendingBodies({
  perClient = 64,
  total = 1_024,
}: {
  readonly perClient?: number;
  readonly total?: number;
} = {}): PendingBodies {
  /** For each client, the oldest first. */
  const pending = new Map<string, Set<() => void>>();
  let all = 0;

  const remove = (client: string, drop: () => void): void => {
    const own = pending.get(client);
    if (own?.delete(drop) !== true) return;
    all -= 1;
    if (own.size === 0) pending.delete(client);
  };

  /** The client with the most bodies loses one, so a client with a single body is the last to be affected. */
  const largest = (): string | undefined => {
    let found: string | undefined;
    let most = 0;
    for (const [client, { size }] of pending) if (size > most) [found, most] = [client, size];
    return found;
  };

  const dropOldest = (client: string | undefined): void => {
    if (client === undefined) return;
    const [oldest] = pending.get(client) ?? [];
    if (oldest === undefined) return;
    remove(client, oldest);
    oldest();
  };

  return {
    begin(client, drop) {
      if ((pending.get(client)?.size ?? 0) >= perClient) dropOldest(client);
      else if (all >= total) dropOldest(largest());
      const own = pending.get(client) ?? new Set();
      pending.set(client, own.add(drop));
      all += 1;
      return () => remove(client, drop);
    },
  };
}
