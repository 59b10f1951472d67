/** The entry point for authors of stores: `service-gateway/sdk/store`, beside `service-gateway/sdk`. */
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
  type Person,
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
  type Settlement,
  type SeveralNodes,
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

/** A store that several nodes can share. */
export interface StoreDefinition {
  /** The value of `state.store` that selects this store. */
  readonly id: string;
  /** What the store is, in one sentence without a final period. */
  readonly description: string;
  /** Connects to the database and prepares it. Rejects with an error of `storeError` if the database cannot be used. */
  open(opening: StoreOpening): Promise<Store>;
}

/**
 * Declares a store.
 *
 * @example
 * export default defineStore({ id: "memory", description: "A store without a disk", open: async (opening) => openMemory(opening) });
 */
export function defineStore(definition: StoreDefinition): StoreDefinition {
  return definition;
}

/** The errors with which a store rejects. */
export type StoreErrorCode = Extract<
  ErrorCode,
  "database_away" | "database_foreign" | "database_too_old" | "database_unusable" | "database_version" | "lease_lost" | "state_fenced"
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
