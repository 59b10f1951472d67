/** Failed events, grouped by their reason. */
import type { EventFilter, EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";

/** Older failures are not listed. */
const mostListed = 1_000;

export interface FailedGroup {
  /** The code of the reason. */
  readonly reason: string;
  readonly events: number;
  readonly newestAt: number;
  readonly oldestAt: number;
  /** Up to five, newest first. */
  readonly examples: readonly string[];
}

export async function groupFailed(store: Pick<Store, "events">): Promise<readonly FailedGroup[]> {
  const failed = await store.events({ outcome: "failed", includeInternal: true, limit: mostListed });
  return [...Map.groupBy(failed, ({ reason = "" }) => reason)].map(([reason, events]) => ({
    reason,
    events: events.length,
    newestAt: events[0]?.acceptedAt ?? 0,
    oldestAt: events.at(-1)?.acceptedAt ?? 0,
    examples: events.slice(0, 5).map(({ id }) => id),
  }));
}

/** The failed events that are to run again, oldest first. */
export async function findFailed(
  store: Pick<Store, "events">,
  { code, ...filter }: { readonly code?: string | undefined } & EventFilter,
): Promise<readonly EventReport[]> {
  const found = await store.events({ ...filter, outcome: "failed", oldestFirst: true });
  return found.filter(({ reason }) => code === undefined || reason === code);
}

/** Resolves with false if another call has run it again meanwhile, and it may have failed once more. */
export async function runAgain(
  store: Store,
  event: EventReport,
  again: (store: Store, event: EventReport) => Promise<boolean>,
): Promise<boolean> {
  const now = await store.event(event.id);
  if (now?.outcome !== "failed" || now.settledAt !== event.settledAt) return false;
  return await again(store, event);
}
