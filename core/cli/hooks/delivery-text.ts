/** Finds a delivery by its id, the beginning of one, or `last`. */
import { HostError } from "../../contract/errors.ts";
import { explained } from "../../reports/explained.ts";
import { findByPrefix, withUnit } from "../../reports/find-event.ts";
import type { EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import { type Repeated, readRepeated } from "../../webhooks/endpoint/repetitions.ts";
import { isDelivery, readStoredHook, type StoredHook } from "../../webhooks/mapping/stored-hook.ts";

/** Deliveries are the events of hooks, without the summaries that follow them. */
export const deliveryFilter = { source: "hooks", exceptKind: "summary" } as const;

export interface FoundDelivery {
  readonly report: EventReport;
  readonly stored: StoredHook;
  /** Absent if it arrived once. */
  readonly repeated: Repeated | undefined;
}

/** Throws `delivery_none` and `delivery_unknown`. Chat messages are not found here. */
export async function findDelivery(store: Store, wanted: string): Promise<FoundDelivery> {
  const found = wanted === "last" ? await newest(store) : await findByPrefix(store, wanted, deliveryFilter);
  if (found === null || !isDelivery(found)) throw new HostError("delivery_unknown", { event: wanted });
  const stored = readStoredHook(await store.body(found.id), found.kind);
  return {
    report: await explained(store, await withUnit(store, found)),
    stored,
    repeated: await readRepeated(store, found.id),
  };
}

async function newest(store: Store): Promise<EventReport> {
  const [event] = await store.events({ ...deliveryFilter, limit: 1 });
  if (event === undefined) throw new HostError("delivery_none");
  return event;
}
