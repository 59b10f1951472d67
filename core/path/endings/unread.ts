/** Queued events: which ends of a turn remove them from the queue, and how many were dropped. */

import type { Inbound, Reply } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import { type Ending, isQueueKey, type Store, type Unit } from "../../state/index.ts";
import { logLeftOut } from "../../stations/index.ts";
import { exhausted } from "./exhausted.ts";

/** Ends of a heartbeat that read nothing. */
const unreadReasons: ReadonlySet<string> = new Set(["stopped", "budget_exceeded", "delivered_already"]);

/** Only a turn that finished removes events from a queue; a failed model call, a refusal or `/stop` does not. */
export function isUnread({ outcome, reason }: Ending, inbound: Inbound, reply: Reply | undefined): boolean {
  if (inbound.request?.heartbeat === undefined || reply !== undefined || reason === exhausted) return false;
  return outcome !== "silent" || unreadReasons.has(reason);
}

/** A unit of a queue has nothing else to end: it waits again unchanged. */
export function isOfQueue({ events: [leader] }: Unit): boolean {
  return isQueueKey(leader?.gather?.key);
}

/** Records that the turn has read the number of dropped events, and logs it. */
export function reportLeftOut(
  { id, lane, events: [leader] }: Unit,
  { store, log }: { readonly store: Pick<Store, "leftOutReported">; readonly log: Pick<Log, "warn"> },
): Promise<void> | undefined {
  const { leftOut, gather } = leader ?? {};
  if (leftOut === undefined || gather === undefined) return undefined;
  logLeftOut(log, { event: id, lane, leftOut });
  return store.leftOutReported(gather.key, leftOut);
}
