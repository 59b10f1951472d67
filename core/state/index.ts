/** The store: its interface, its directory and its naming conventions. */

export { writeWhole } from "./directory.ts";
export { createIds, timeOfId } from "./ids.ts";
export { controlSuffix, encodeLanePart } from "./lane.ts";
export type { Pruned, PruneLimits } from "./limits.ts";
export { lockState } from "./lock.ts";
export { isQueueKey, type Queue, queuePrefix } from "./queue-key.ts";
export type { KeptMessage, KeptRow, Person, Removals } from "./removals.ts";
export type { EventFilter, EventReport, PlatformId, SessionReport, StoreStats, UsageReport } from "./report.ts";
export type { SessionMessage, SessionRecord } from "./session.ts";
export type { SeveralNodes } from "./several-nodes.ts";
export type {
  AcceptedEvent,
  Ending,
  NewEvent,
  OutboxRow,
  PreviewLeft,
  Settlement,
  Store,
  StoredEvent,
  Unit,
  WaitingLane,
} from "./store.ts";
