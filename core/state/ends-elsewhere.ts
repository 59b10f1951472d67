/**
 * An event may end on another node, which sends no note of it. Requests that wait for the end look for it in the store.
 */
import type { EventReport } from "./report.ts";
import type { Store } from "./store.ts";

const everyMs = 400;

/**
 * Calls back with the report of an event that has ended. Returns a function that ends the look. Does nothing without
 * other nodes.
 */
export function lookForEnd(
  store: Pick<Store, "nodes" | "event">,
  eventId: string,
  onEnd: (report: EventReport) => void,
): () => void {
  if (store.nodes === undefined) return () => {};
  const look = async () => {
    const report = await store.event(eventId);
    if (report?.state === "settled") onEnd(report);
  };
  // A database that is away answers the next look, or the one after it.
  const timer = setInterval(() => void look().catch(() => {}), everyMs);
  return () => clearInterval(timer);
}
