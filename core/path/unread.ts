/** Events of a queue: which ends of a turn take them from it, and the count of those that were left out. */

import type { Inbound, Reply } from "../contract/index.ts";
import { type Ending, isQueueKey, type Store, type Unit } from "../state/index.ts";
import { exhausted } from "./exhausted.ts";

/** What waits in a queue is taken from it by a turn that ended only: not by a failed model call, a refusal or `/stop`. */
export function isUnread({ outcome, reason }: Ending, inbound: Inbound, reply: Reply | undefined): boolean {
  if (inbound.request?.heartbeat === undefined || reply !== undefined || reason === exhausted) return false;
  return outcome !== "silent" || reason === "stopped";
}

/** A unit of a queue has nothing else to end: it waits again as it is. */
export function isOfQueue({ events: [leader] }: Unit): boolean {
  return isQueueKey(leader?.gather?.key);
}

/** The turn has read how many events were left out before it. */
export function reportLeftOut({ events: [leader] }: Unit, store: Pick<Store, "leftOutReported">): Promise<void> | undefined {
  const { leftOut, gather } = leader ?? {};
  return leftOut === undefined || gather === undefined ? undefined : store.leftOutReported(gather.key, leftOut);
}
