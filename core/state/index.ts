/** The store: its interface, its directory and its naming conventions. */

export {
  type Copying,
  type CopyKey,
  type CopyKind,
  type CopyRecord,
  type CopyRow,
  copyKinds,
  copyNamespace,
  copyRecordKey,
} from "./copying.ts";
export { flushDirectory, makeDirectory, ownLike, startError, writeWhole } from "./directory.ts";
export { createDrops, type Drops } from "./drops.ts";
export { createDuties, type Duties } from "./duties.ts";
export { lookForEnd } from "./ends-elsewhere.ts";
export { createIds, timeOfId } from "./ids.ts";
export { controlSuffix, encodeLanePart } from "./lane.ts";
export type { Pruned, PruneLimits } from "./limits.ts";
export { lockHolder, lockState } from "./lock.ts";
export { createLogWatch } from "./log-file.ts";
export type {
  CallPurpose,
  ModelCall,
  ModelCalls,
  SpendingLimit,
  SpendingScope,
  Spent,
  TokenCounts,
  UsageGrouping,
  UsageReport,
} from "./model-calls.ts";
export { nodeName } from "./node-name.ts";
export { accountDuty, type NodeNote, type NodeReport, type Nodes, type NodeWatcher } from "./nodes.ts";
export { type AfterReceipt, forgottenPart, type OutboxRow, type OutboxState } from "./outbox-row.ts";
export { isQueueKey, type Queue, queuePrefix } from "./queue-key.ts";
export type { Person, Removals, StoredMessage, StoredRow } from "./removals.ts";
export type { EventFilter, EventReport, PlatformId, SessionReport, StoreStats } from "./report.ts";
export { type EventReportRow, eventReportOf, type StoredEventRow, storedEventOf } from "./rows.ts";
export { accountSecretsFolder, openSecretFolder } from "./secrets/secret-folder.ts";
export type {
  Conversation,
  LastRecipient,
  PlacedMessage,
  SessionMessage,
  SessionRecord,
  SessionSummary,
} from "./session.ts";
export type {
  AcceptedEvent,
  Ending,
  NewEvent,
  PreviewLeft,
  Settlement,
  Store,
  StoredEvent,
  Unit,
  WaitingLane,
} from "./store.ts";
export {
  deletedBody,
  type MessageName,
  readDeleted,
  readEdited,
  type WaitingEdit,
  type WriterChanges,
  withEdit,
} from "./writer-changes.ts";
