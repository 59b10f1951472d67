/** Searches for what no index knows: bounded, and continued by the next request. */
import type { EventFilter } from "../../../state/index.ts";
import type { V1Deps } from "./deps.ts";

/** Only events of this many are searched for what no index knows: it takes less than 50 ms. */
export const searched = 20_000;

/** The oldest event that a search has looked at, if there are older ones that may match. */
export async function restOf(store: V1Deps["store"], { within, olderThan, since = 0 }: EventFilter) {
  if (within === undefined) return undefined;
  const all = { includeInternal: true, limit: 1 };
  const [oldest] = await store.events({ ...all, within, oldestFirst: true, ...(olderThan && { olderThan }) });
  if (oldest === undefined || oldest.acceptedAt < since) return undefined;
  const [older] = await store.events({ ...all, olderThan: oldest.id });
  return older === undefined ? undefined : oldest.id;
}
