/** Waits for the end of the event that an action was stored as. */

import type { Outcome, TurnRecord } from "../contract/index.ts";
import { type EventReport, lookForEnd, type Store } from "../state/index.ts";
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

export function createEnds({
  hooks,
  store,
}: {
  readonly hooks: Pick<Hooks, "tap">;
  readonly store: Pick<Store, "event" | "nodes">;
}): Ends {
  const waiting = new Map<string, Set<Listener>>();
  hooks.tap("core", "settled", (record: TurnRecord) => {
    if (waiting.size === 0) return;
    for (const resolve of waiting.get(record.eventId) ?? []) resolve(record);
  });

  async function ended(eventId: string): Promise<End | undefined> {
    const report = await store.event(eventId);
    return report === null ? undefined : endOf(report);
  }

  return {
    async wait(eventId, { ms, signal }) {
      const { promise, resolve } = Promise.withResolvers<End | undefined>();
      // Registered before the store is queried, so that an end in between is not missed.
      const listeners = waiting.get(eventId) ?? new Set();
      waiting.set(eventId, listeners.add(resolve));
      const leave = () => resolve(undefined);
      const timer = setTimeout(leave, ms);
      const stopLooking = lookForEnd(store, eventId, (report) => resolve(endOf(report)));
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      try {
        return (await ended(eventId)) ?? (await promise);
      } finally {
        clearTimeout(timer);
        stopLooking();
        signal.removeEventListener("abort", leave);
        listeners.delete(resolve);
        if (listeners.size === 0) waiting.delete(eventId);
      }
    },
  };
}

const endOf = ({ state, outcome, reason }: EventReport): End | undefined =>
  state !== "settled" || outcome === undefined ? undefined : { outcome, reason: reason ?? outcome };
