/** The lease under which this node runs units. A store that only one gateway uses needs none. */
import { setMaxListeners } from "node:events";
import type { Store } from "../../state/index.ts";

export interface Leases {
  /** Aborted when the gateway closes, or when the lease that is valid now is lost. */
  signal(): AbortSignal;
  /** The lease is lost: interrupts what runs under it. Units that begin afterwards run under the next lease. */
  lost(): void;
}

export function createLeases({
  closing,
  store,
}: {
  readonly closing: AbortSignal;
  readonly store: Pick<Store, "nodes">;
}): Leases {
  if (store.nodes === undefined) return { signal: () => closing, lost() {} };
  let current = newLease();
  closing.addEventListener("abort", () => current.abort(), { once: true });

  return {
    signal: () => current.signal,
    lost() {
      const before = current;
      if (!closing.aborted) current = newLease();
      before.abort();
    },
  };
}

function newLease(): AbortController {
  const lease = new AbortController();
  // Every running turn and every waiting send listens to it.
  setMaxListeners(0, lease.signal);
  return lease;
}
