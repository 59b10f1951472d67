/** Events by what the user typed. */
import { HostError } from "../contract/errors.ts";
import type { EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";

/** How far back an id may be cut short. */
const prefixSearch = 1_000;

/** The event of an id, or of the beginning of one among those that the filter lets through. */
export async function findByPrefix(
  store: Store,
  wanted: string,
  filter: Omit<Parameters<Store["events"]>[0], "limit"> = {},
): Promise<EventReport | null> {
  const exact = await store.event(wanted);
  if (exact !== null) return exact;
  const matching = (await store.events({ ...filter, limit: prefixSearch })).filter((event) => event.id.startsWith(wanted));
  if (matching.length > 1) {
    throw new HostError("usage", { reason: `${matching.length} events begin with "${wanted}"; write more of the id` });
  }
  return matching[0] ?? null;
}

/** An event that was handled together with others has its decisions at the one that led. */
export async function withUnit(store: Store, report: EventReport): Promise<EventReport> {
  if (report.unitId === undefined || report.unitId === report.id || report.decisions.length > 0) return report;
  const leader = await store.event(report.unitId);
  return leader === null ? report : { ...report, decisions: leader.decisions };
}
