/** The store: its interface, its directory and its naming conventions. */

export { writeWhole } from "./directory.ts";
export { createIds, timeOfId } from "./ids.ts";
export { controlSuffix, encodeLanePart } from "./lane.ts";
export { lockState } from "./lock.ts";
export { accountDuty, type NodeNote, type NodeReport, type Nodes, type NodeWatcher } from "./nodes.ts";
export { isQueueKey, type Queue, queuePrefix } from "./queue-key.ts";
export type { EventReport, StoreStats } from "./report.ts";
export type { SessionMessage, SessionRecord } from "./session.ts";
export type { AcceptedEvent, Ending, NewEvent, OutboxRow, PreviewLeft, Settlement, Store, StoredEvent, Unit } from "./store.ts";
