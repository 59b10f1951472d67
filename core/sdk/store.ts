/**
 * The entry point for authors of stores: `service-gateway/sdk/store`, beside `service-gateway/sdk`. A store keeps the
 * whole state of a gateway in place of the embedded SQLite database. `storeContract` of `service-gateway/testkit` tests
 * it against the rules.
 */
import { type ErrorCode, HostError } from "../contract/index.ts";
import type { Store } from "../state/index.ts";

export type {
  Accepted,
  Address,
  Authority,
  Decision,
  Gather,
  Json,
  Outcome,
  Part,
  RawEvent,
  Receipt,
  Station,
} from "../contract/index.ts";
export { type OnFault, onEvent, onMessage, type SourceFault } from "../listeners/index.ts";
export {
  type AcceptedEvent,
  type AfterReceipt,
  type CallPurpose,
  type Conversation,
  type Copying,
  type CopyKey,
  type CopyKind,
  type CopyRecord,
  type CopyRow,
  copyKinds,
  copyNamespace,
  copyRecordKey,
  type Ending,
  type EventFilter,
  type EventReport,
  type EventReportRow,
  encodeLanePart,
  eventReportOf,
  forgottenPart,
  isQueueKey,
  type LastRecipient,
  type ModelCall,
  type ModelCalls,
  type NewEvent,
  type NodeNote,
  type NodeReport,
  type Nodes,
  type NodeWatcher,
  type OutboxRow,
  type OutboxState,
  type Person,
  type PlacedMessage,
  type PlatformId,
  type PreviewLeft,
  type Pruned,
  type PruneLimits,
  type Queue,
  queuePrefix,
  type Removals,
  type SessionMessage,
  type SessionRecord,
  type SessionReport,
  type SessionSummary,
  type Settlement,
  type SpendingLimit,
  type SpendingScope,
  type Spent,
  type Store,
  type StoredEvent,
  type StoredEventRow,
  type StoredMessage,
  type StoredRow,
  type StoreStats,
  storedEventOf,
  type TokenCounts,
  type Unit,
  type UsageGrouping,
  type UsageReport,
  type WaitingEdit,
  type WaitingLane,
  type WriterChanges,
  withEdit,
} from "../state/index.ts";

/** What a store needs to open. */
export interface StoreOpening {
  /** The address of the database, from `state.url`. */
  readonly url: string;
  /** Epoch milliseconds; decides what has expired. */
  readonly now: () => number;
  /** Whether the caller takes work (a gateway), or only reads and edits beside it (a command). */
  readonly owner: boolean;
  /** Names this node in the database, from `gateway.node`. */
  readonly node: string;
}

/**
 * A store, as a plugin declares it in its member `store`. The plugin's folder, file or package is named `store-<id>`:
 * the host finds it by that name and loads it before all other plugins. It never runs in a worker.
 */
export interface StoreDefinition {
  /** The value of `state.store` that selects this store: `a-z`, `0-9`, `-`, starting with a letter. */
  readonly id: string;
  /** What the store is, in one sentence without a final period. */
  readonly description: string;
  /**
   * Connects to the database and prepares it. Rejects with an error of `storeError` if the database cannot be used; any
   * other error is reported as `store_not_opened`. Its message need not name the address: the host adds it without the
   * password.
   */
  open(opening: StoreOpening): Promise<Store>;
  /**
   * Examines the database for `service doctor`, which adds the address. It runs without a gateway, and also if `open`
   * rejects. A throw is a `fail`.
   */
  check?(opening: StoreOpening): Promise<readonly StoreFinding[]>;
  /**
   * The commands that an operator runs to copy the database and to restore it. `service backup` prints them, because it
   * does not contain the database. They must not contain the password of the address.
   */
  backupCommands?(url: string): StoreCommands;
}

/** The commands of the database itself, each as one line for a shell. */
export interface StoreCommands {
  readonly backup: string;
  readonly restore: string;
}

/** A result of a store's own check: a reason in one sentence without a final period, and what to do. */
export interface StoreFinding {
  readonly verdict: "ok" | "warn" | "fail";
  readonly reason: string;
  readonly fix?: string;
}

/**
 * Declares a store for the member `store` of a plugin.
 *
 * @example
 * export default definePlugin({
 *   id: "store-files",
 *   version: "1.0.0",
 *   host: "^0.2.0",
 *   store: defineStore({
 *     id: "files",
 *     description: "Files in a shared folder",
 *     open: async (opening) => openFiles(opening),
 *   }),
 *   setup() {},
 * });
 */
export function defineStore(definition: StoreDefinition): StoreDefinition {
  return definition;
}

/** The errors with which a store rejects. */
export type StoreErrorCode = Extract<
  ErrorCode,
  | "database_away"
  | "database_foreign"
  | "database_in_use"
  | "database_too_old"
  | "database_unusable"
  | "database_version"
  | "lease_lost"
  | "state_copy_unfinished"
  | "state_fenced"
>;

/**
 * Creates an error of the gateway's error table; `core/ERRORS.md` lists the details that each code has.
 *
 * @example
 * throw storeError("database_away", { reason: "connection refused" });
 */
export function storeError(
  code: StoreErrorCode,
  details: Readonly<Record<string, string | number>> = {},
  options?: { readonly cause?: unknown },
): Error & { readonly code: StoreErrorCode } {
  return new HostError(code, details, options) as HostError & { readonly code: StoreErrorCode };
}
