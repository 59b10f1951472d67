/** Queued events: which ends of a turn remove them from the queue, and how many were dropped. */

import { leftOutHint, leftOutLine } from "../../agents/index.ts";
import type { Inbound, Reply } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
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

/** Records that the turn has read the number of dropped events, and logs it. */
export function reportLeftOut(
  { id, lane, events: [leader] }: Unit,
  { store, log }: { readonly store: Pick<Store, "leftOutReported">; readonly log: Pick<Log, "warn"> },
): Promise<void> | undefined {
  const { leftOut, gather } = leader ?? {};
  if (leftOut === undefined || gather === undefined) return undefined;
  log.warn({ event: id, lane, leftOut, hint: leftOutHint }, leftOutLine);
  return store.leftOutReported(gather.key, leftOut);
}
