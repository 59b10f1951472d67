/** Webhook deliveries as lists and commands show them. */
import type { EventFilter, EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";
import { type Repeated, readRepeated } from "../webhooks/endpoint/repetitions.ts";
import { isDelivery, readStoredHook, type StoredHook } from "../webhooks/mapping/stored-hook.ts";
import { explained } from "./explained.ts";
import { findByPrefix, withUnit } from "./find-event.ts";

/** Deliveries are the events of hooks, without the summaries that follow them. */
export const deliveryFilter = { source: "hooks", exceptKind: "summary" } as const;

export interface Delivery {
  readonly report: EventReport;
  readonly stored: StoredHook;
  /** Absent if it arrived once. */
  readonly repeated: Repeated | undefined;
}

/** Newest first. `failed`: only those that failed or were refused. */
export async function readDeliveries(
  store: Store,
  { failed = false, ...filter }: Pick<EventFilter, "limit" | "olderThan" | "within"> & { readonly failed?: boolean },
): Promise<readonly Delivery[]> {
  const outcomes = failed ? (["failed", "refused"] as const) : [undefined];
  const found = await Promise.all(
    outcomes.map((outcome) => store.events({ ...deliveryFilter, ...filter, ...(outcome && { outcome }) })),
  );
  const reports = found
    .flat()
    .sort((a, b) => b.acceptedAt - a.acceptedAt)
    .slice(0, filter.limit);
  return await Promise.all(
    reports.map(async (report) => ({
      report,
      stored: readStoredHook(await store.body(report.id), report.kind),
      repeated: await readRepeated(store, report.id),
    })),
  );
}

export function deliveryData({ report, stored, repeated }: Delivery) {
  const { id, kind, acceptedAt, state, outcome, reason, settledAt, attempts } = report;
  return {
    id,
    at: acceptedAt,
    hook: stored.hook,
    path: stored.delivery?.path ?? kind,
    kind,
    state,
    ...(outcome === undefined ? {} : { outcome, reason }),
    ...(settledAt === undefined ? {} : { ms: settledAt - acceptedAt }),
    attempts,
    repeated,
  };
}

/** The delivery whose id begins so, or the newest one for `last`; `null` if there is none. */
export async function findDelivery(store: Store, wanted: string): Promise<Delivery | null> {
  const found =
    wanted === "last"
      ? ((await store.events({ ...deliveryFilter, limit: 1 }))[0] ?? null)
      : await findByPrefix(store, wanted, deliveryFilter);
  if (found === null || !isDelivery(found)) return null;
  const stored = readStoredHook(await store.body(found.id), found.kind);
  return {
    report: await explained(store, await withUnit(store, found)),
    stored,
    repeated: await readRepeated(store, found.id),
  };
}
