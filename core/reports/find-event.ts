/** Finds events by what the user typed. */
import { HostError } from "../contract/errors.ts";
import type { EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";

/** How many of the newest events are searched for an abbreviated id. */
const prefixSearch = 1_000;

/** The event with this id, or the only one whose id begins with it, among those that match the filter. */
export async function findByPrefix(
  store: Store,
  wanted: string,
  filter: Omit<Parameters<Store["events"]>[0], "limit"> = {},
): Promise<EventReport | null> {
  const exact = await store.event(wanted);
  if (exact !== null) return exact;
  const matching = (await store.events({ ...filter, limit: prefixSearch })).filter((event) =>
    event.id.startsWith(wanted),
  );
  if (matching.length > 1) {
    throw new HostError("usage", { reason: `${matching.length} events begin with "${wanted}"; write more of the id` });
  }
  return matching[0] ?? null;
}

/** Events handled together have their decisions at the first of them. */
export async function withUnit(store: Pick<Store, "event">, report: EventReport): Promise<EventReport> {
  if (report.unitId === undefined || report.unitId === report.id || report.decisions.length > 0) return report;
  const leader = await store.event(report.unitId);
  return leader === null ? report : { ...report, decisions: leader.decisions };
}
