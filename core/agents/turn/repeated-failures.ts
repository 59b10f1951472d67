/**
 * Turns that fail again while their model answers others: the cause may be the turn itself. Each waits longer every
 * time, because otherwise it would ask again after every answer of another turn.
 */
import type { Outage } from "./outage-notes.ts";

const pauses = { firstMs: 10_000, longestMs: 10 * 60_000 } as const;
/** Turns that are remembered. */
const mostRemembered = 10_000;

interface Failed {
  /** The outage that it waited for. */
  readonly outage: Outage;
  readonly failures: number;
}

export interface RepeatedFailures {
  /** A turn has failed and waits for an outage. Returns until when it waits even if the model answers others. */
  count(eventId: string, outage: Outage): number;
}

export function createRepeatedFailures({ now }: { readonly now: () => number }): RepeatedFailures {
  /** By event, the oldest first. */
  const failed = new Map<string, Failed>();
  return {
    count(eventId, outage) {
      const before = failed.get(eventId);
      // The outage that it waited for is over, so a model has answered.
      const isAgain = before !== undefined && before.outage !== outage;
      const failures = (before?.failures ?? 0) + (isAgain ? 1 : 0);
      failed.delete(eventId);
      failed.set(eventId, { outage, failures });
      const [oldest] = failed.keys();
      if (failed.size > mostRemembered && oldest !== undefined) failed.delete(oldest);
      return now() + (failures === 0 ? 0 : Math.min(pauses.longestMs, pauses.firstMs * 2 ** Math.min(failures, 10)));
    },
  };
}
