/**
 * The entry point for authors of stores: `service-gateway/sdk/store`, beside `service-gateway/sdk`. A store keeps the whole state of a
 * gateway in place of the embedded SQLite database. `storeContract` of `service-gateway/testkit` tests it against the rules.
 */
import type { Store } from "../state/index.ts";

export {
  type Accepted,
  type Address,
  type Authority,
  type Decision,
  type ErrorCode,
  type Gather,
  HostError,
  type Json,
  type Outcome,
  type Part,
  type RawEvent,
  type Receipt,
  type Station,
} from "../contract/index.ts";
export {
  type AcceptedEvent,
  type Ending,
  type EventFilter,
  type EventReport,
  encodeLanePart,
  isQueueKey,
  type KeptMessage,
  type KeptRow,
  type NewEvent,
  type OutboxRow,
  type OutboxState,
  type Person,
  type PlatformId,
  type PreviewLeft,
  type Pruned,
  type PruneLimits,
  type Queue,
  type Removals,
  type SessionMessage,
  type SessionRecord,
  type SessionReport,
  type Settlement,
  type Store,
  type StoredEvent,
  type StoreStats,
  type Unit,
  type UsageReport,
  type WaitingLane,
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
 * A store, as a plugin declares it. The plugin's folder, file or package is named `store-<id>`, because it is found by that name and
 * loaded before all other plugins; it never runs in a worker.
 */
export interface StoreDefinition {
  /** The name in `state.store`: `a-z`, `0-9`, `-`, starting with a letter. */
  readonly id: string;
  /** One sentence that says where the data is stored, for the list of plugins. */
  readonly description: string;
  /**
   * Connects to the database, creates or migrates the schema if necessary, and resolves with the store. Rejects if the database cannot be
   * used: `HostError` is reported as it is, any other error as `store_not_opened` with its message. A message does not need the address;
   * the host adds it without the password.
   */
  open(opening: StoreOpening): Promise<Store>;
}

/**
 * Declares a store for the `store` member of a plugin.
 *
 * @example
 * export default definePlugin({
 *   id: "store-files",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   store: defineStore({
 *     id: "files",
 *     description: "Stores the state in files of a shared folder.",
 *     open: async ({ url, now }) => openFiles({ folder: new URL(url), now }),
 *   }),
 *   setup() {},
 * });
 */
export function defineStore(definition: StoreDefinition): StoreDefinition {
  return definition;
}
