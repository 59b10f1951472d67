/** What an operator is shown of the state. */
import type { Decision, Outcome } from "../types.ts";

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

export interface StoreStats {
  readonly waiting: number;
  readonly running: number;
  readonly outboxWaiting: number;
  readonly settled: { readonly [outcome in Outcome]: number };
}
