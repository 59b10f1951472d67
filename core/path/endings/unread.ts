/** Queued events: which ends of a turn remove them from the queue, and how many were dropped. */

import type { Inbound, Reply } from "../../contract/index.ts";
import { type Ending, isQueueKey, type Store, type Unit } from "../../state/index.ts";
import { exhausted } from "./exhausted.ts";

/** Only a turn that finished removes events from a queue; a failed model call, a refusal or `/stop` does not. */
export function isUnread({ outcome, reason }: Ending, inbound: Inbound, reply: Reply | undefined): boolean {
  if (inbound.request?.heartbeat === undefined || reply !== undefined || reason === exhausted) return false;
  return outcome !== "silent" || reason === "stopped" || reason === "budget_exceeded";
}

/** A unit of a queue has nothing else to end: it waits again unchanged. */
export function isOfQueue({ events: [leader] }: Unit): boolean {
  return isQueueKey(leader?.gather?.key);
}

/** Records that the turn has read the number of dropped events. */
export function reportLeftOut({ events: [leader] }: Unit, store: Pick<Store, "leftOutReported">): Promise<void> | undefined {
  const { leftOut, gather } = leader ?? {};
  return leftOut === undefined || gather === undefined ? undefined : store.leftOutReported(gather.key, leftOut);
}
