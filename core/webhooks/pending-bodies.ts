/**
 * Bodies that are read before it is known who sends them: where a signature is asked for, the bytes are what it is
 * checked on. Bounded in number, for each client and for all, because each holds memory until it is whole or late.
 */
export interface PendingBodies {
  /** `undefined`: too many. Else to be called when the body is there, or will never be. Idempotent. */
  begin(client: string): (() => void) | undefined;
}

export function createPendingBodies({
  perClient = 64,
  total = 1_024,
}: {
  readonly perClient?: number;
  readonly total?: number;
} = {}): PendingBodies {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    begin(client) {
      const count = counts.get(client) ?? 0;
      if (count >= perClient || all >= total) return undefined;
      counts.set(client, count + 1);
      all += 1;
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        all -= 1;
        const left = (counts.get(client) ?? 1) - 1;
        if (left > 0) counts.set(client, left);
        else counts.delete(client);
      };
    },
  };
}
