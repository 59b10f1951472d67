/** Reports about the state for operators. */
import type { Address, Decision, Json, Outcome } from "../contract/index.ts";

/** A chat or sender by platform id. Without a channel, it matches any channel. */
export interface PlatformId {
  readonly channel?: string;
  readonly id: string;
}

/** Filters events. Absent fields match everything. */
export interface EventFilter {
  readonly limit: number;
  readonly id?: string;
  readonly source?: string;
  readonly outcome?: Outcome;
  /** Only events that have not ended. */
  readonly open?: true;
  /** Only events that came from a chat or caused a message to it. */
  readonly chat?: PlatformId;
  /** Only events caused by this sender, who is known once the event has been parsed. */
  readonly sender?: PlatformId;
  /** Only events whose body contains the text, where the body is written as JSON. */
  readonly bodyContains?: string;
  /** Only events accepted at this time or later, epoch milliseconds. */
  readonly since?: number;
  /** Only events accepted after the event with this id. */
  readonly newerThan?: string;
  /** Only events accepted before the event with this id. */
  readonly olderThan?: string;
  /**
   * How far back from the newest event, or from `olderThan`, it is searched: about this many events. Bounds the time of
   * a search for what no index knows.
   */
  readonly within?: number;
  /** Excludes events of this kind. */
  readonly exceptKind?: string;
  readonly includeInternal?: boolean;
  /** Reverses the order. Default: newest first. */
  readonly oldestFirst?: true;
}

/** An event and its outcome, as operators see it. */
export interface EventReport {
  readonly id: string;
  readonly source: string;
  readonly kind: string;
  readonly account?: string;
  readonly lane: string;
  readonly acceptedAt: number;
  readonly state: "waiting" | "running" | "settled";
  readonly attempts: number;
  /** The unit that took the event; the event's own id if it led the unit. */
  readonly unitId?: string;
  readonly outcome?: Outcome;
  readonly reason?: string;
  readonly settledAt?: number;
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly reply?: string;
  readonly decisions: readonly Decision[];
}

/** A session and the size of its conversation, as operators see it. */
export interface SessionReport {
  readonly key: string;
  /** Absent if only a transcript is left and the agent is no longer known. */
  readonly agentId?: string;
  /** Incremented by `/new` and `/reset`. */
  readonly generation: number;
  readonly settings: { readonly [key: string]: Json };
  readonly lastRecipient?: Address;
  /** Number of messages in the current generation. */
  readonly messages: number;
  /** Time of the last message or the last change, whichever is later. */
  readonly updatedAt: number;
}

/** Counts of events by progress, and of the outbox rows that wait. */
export interface StoreStats {
  readonly waiting: number;
  readonly running: number;
  readonly outboxWaiting: number;
  /**
   * Since when the head of a lane has been due that has waited longest, in epoch milliseconds; in the future if none is
   * due yet. Absent if no lane has a head that becomes due.
   */
  readonly oldestDueAt?: number;
  readonly settled: { readonly [outcome in Outcome]: number };
}
