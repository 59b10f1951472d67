/** What an operator is shown of the state. */
import type { Address, Decision, Json, Outcome } from "../contract/index.ts";

/** A chat or a sender by its id at the platform; without a channel: of any. */
export interface PlatformId {
  readonly channel?: string;
  readonly id: string;
}

/** Which events an operator asks for; what is absent does not matter. */
export interface EventFilter {
  readonly limit: number;
  readonly id?: string;
  readonly source?: string;
  readonly outcome?: Outcome;
  /** Those that have not ended. */
  readonly open?: true;
  /** What came from a chat, and what was sent into it. */
  readonly chat?: PlatformId;
  /** Who caused it; known once the event has been read. */
  readonly sender?: PlatformId;
  /** Accepted then or later, epoch milliseconds. */
  readonly since?: number;
  /** Accepted after the event of this id. */
  readonly newerThan?: string;
  /** Leaves events of this kind out. */
  readonly exceptKind?: string;
  readonly includeInternal?: boolean;
  /** Default: newest first. */
  readonly oldestFirst?: true;
}

/** An event with its end, as the operator's view shows it. */
export interface EventReport {
  readonly id: string;
  readonly source: string;
  readonly kind: string;
  readonly account?: string;
  readonly lane: string;
  readonly acceptedAt: number;
  readonly state: "waiting" | "running" | "settled";
  readonly attempts: number;
  /** Unit that took it; its own id when it led. */
  readonly unitId?: string;
  readonly outcome?: Outcome;
  readonly reason?: string;
  readonly settledAt?: number;
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly reply?: string;
  readonly decisions: readonly Decision[];
}

/** A session with what is kept of its conversation, as the operator's view shows it. */
export interface SessionReport {
  readonly key: string;
  /** Absent where only a transcript is left, and nothing says any more whose it was. */
  readonly agentId?: string;
  /** Grows with `/new` and `/reset`. */
  readonly generation: number;
  readonly settings: { readonly [key: string]: Json };
  readonly lastRecipient?: Address;
  /** Messages of the current generation. */
  readonly messages: number;
  /** Last message or last change, whichever came later. */
  readonly updatedAt: number;
}

/** Tokens that turns of an agent took of one model. */
export interface UsageReport {
  /** Empty where the unit has not ended. */
  readonly agentId: string;
  readonly model: string;
  /** How often a turn used the model. */
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface StoreStats {
  readonly waiting: number;
  readonly running: number;
  readonly outboxWaiting: number;
  readonly settled: { readonly [outcome in Outcome]: number };
}
