/**
 * Bodies that are read before it is known who sends them: where a signature is asked for, the bytes are what it is
 * checked on. Bounded in number, for each client and for all, because each holds memory until it is whole or late.
 * A new one is always taken, and the oldest unfinished one makes room: slow senders must not keep a right one out.
 */
export interface PendingBodies {
  /** `drop` is called when the body has to make room. Returns what to call when it is there, or will never be. Idempotent. */
  begin(client: string, drop: () => void): () => void;
}

export function createPendingBodies({
  perClient = 64,
  total = 1_024,
}: {
  readonly perClient?: number;
  readonly total?: number;
} = {}): PendingBodies {
  /** Of each client, the oldest first. */
  const pending = new Map<string, Set<() => void>>();
  let all = 0;

  const remove = (client: string, drop: () => void): void => {
    const own = pending.get(client);
    if (own?.delete(drop) !== true) return;
    all -= 1;
    if (own.size === 0) pending.delete(client);
  };

  /** The one with the most bodies gives one up, so a client with a single body is the last to lose it. */
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
