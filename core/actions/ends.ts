/** Waits for the end of the event that an action was stored as. */

import type { Outcome, TurnRecord } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import type { Hooks } from "../stations/index.ts";

export interface End {
  readonly outcome: Outcome;
  readonly reason: string;
}

export interface Ends {
  /** Resolves with the event's end; `undefined` if it does not end within `ms` or the signal aborts. */
  wait(eventId: string, options: { readonly ms: number; readonly signal: AbortSignal }): Promise<End | undefined>;
}

type Listener = (end: End | undefined) => void;

export function createEnds({ hooks, store }: { readonly hooks: Pick<Hooks, "tap">; readonly store: Pick<Store, "event"> }): Ends {
  const waiting = new Map<string, Set<Listener>>();
  hooks.tap("core", "settled", (record: TurnRecord) => {
    if (waiting.size === 0) return;
    for (const resolve of waiting.get(record.eventId) ?? []) resolve(record);
  });

  async function ended(eventId: string): Promise<End | undefined> {
    const { state, outcome, reason } = (await store.event(eventId)) ?? {};
    return state !== "settled" || outcome === undefined ? undefined : { outcome, reason: reason ?? outcome };
  }

  return {
    async wait(eventId, { ms, signal }) {
      const { promise, resolve } = Promise.withResolvers<End | undefined>();
      // Registered before the store is queried, so that an end in between is not missed.
      const listeners = waiting.get(eventId) ?? new Set();
      waiting.set(eventId, listeners.add(resolve));
      const leave = () => resolve(undefined);
      const timer = setTimeout(leave, ms);
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      try {
        return (await ended(eventId)) ?? (await promise);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        listeners.delete(resolve);
        if (listeners.size === 0) waiting.delete(eventId);
      }
    },
  };
}
