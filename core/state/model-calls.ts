/** The ledger of model calls: what each one used and cost, and the sums that budgets are compared with. */

/** Why a model was called. */
export type CallPurpose = "turn" | "webhook" | "heartbeat" | "plugin" | "describe" | "compaction" | (string & {});

/** Tokens of model calls. */
export interface TokenCounts {
  /** All tokens of the requests, including those that the server read from its cache or wrote to it. */
  readonly inputTokens: number;
  /** All tokens of the replies, including the reasoning. */
  readonly outputTokens: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** One call of a model. */
export interface ModelCall extends TokenCounts {
  readonly id: string;
  /** Epoch milliseconds of its beginning. */
  readonly at: number;
  readonly agentId: string;
  /** `provider/model`. */
  readonly model: string;
  readonly purpose: CallPurpose;
  readonly sessionKey?: string;
  readonly channel?: string;
  readonly account?: string;
  /** Platform id of the person who asked. */
  readonly sender?: string;
  readonly eventId?: string;
  /** US dollars; `null` if the price is unknown. */
  readonly usd: number | null;
  /** Where the price is from, `config` or the name of a list; `null` if it is unknown. */
  readonly priceSource: string | null;
  /** The server reported no usage: the call is still running, or broke off. */
  readonly estimated: boolean;
}

/** Which calls a sum is about. Absent fields match everything. */
export interface SpendingScope {
  /** Only calls at this time or later, epoch milliseconds. */
  readonly since: number;
  readonly agentId?: string;
  /** Only calls for this person. */
  readonly sender?: { readonly channel: string; readonly id: string };
}

/** The most that the calls of a scope may use. */
export interface SpendingLimit extends SpendingScope {
  readonly tokens?: number;
  readonly usd?: number;
}

/** What the calls of a scope have used, including those that run. */
export interface Spent {
  readonly tokens: number;
  /** Of the calls with a known price. */
  readonly usd: number;
}

/** What `usage` groups by. */
export type UsageGrouping = "agent" | "model" | "sender" | "purpose";

/** The calls of one model in one group. */
export interface UsageReport extends TokenCounts {
  /** Empty if it is unknown. */
  readonly agentId: string;
  readonly model: string;
  /** `channel:id` of the person, with `by: "sender"`; empty if no person asked. */
  readonly sender?: string;
  /** With `by: "purpose"`. */
  readonly purpose?: CallPurpose;
  readonly calls: number;
  /** US dollars of the calls with a known price. */
  readonly usd: number;
  /** How many of the calls have no known price, and their tokens. */
  readonly unpriced: TokenCounts & { readonly calls: number };
  /** How many of the calls are estimates. */
  readonly estimated: number;
}

/** The part of a store that keeps the ledger. */
export interface ModelCalls {
  /**
   * Stores a call before it is made, with an estimate, unless it would exceed one of the limits. Calls that ask at the
   * same moment, also on several nodes, do so one after the other. `spent` is what the calls of each limit have used
   * without this one; `refusedBy` the index of the first limit that it would exceed, or `null`. If the process ends
   * before `recordCall`, the estimate stays.
   */
  reserveCall(
    call: ModelCall,
    limits: readonly SpendingLimit[],
  ): Promise<{ readonly refusedBy: number | null; readonly spent: readonly Spent[] }>;
  /** Stores a call, in place of its estimate if it was reserved. */
  recordCall(call: ModelCall): Promise<void>;
  /** Removes a reserved call that had no effect. */
  releaseCall(id: string): Promise<void>;
  /** What the calls of each scope have used. */
  spent(scopes: readonly SpendingScope[]): Promise<readonly Spent[]>;
  /** The calls since then by agent and model, or by the given key and model; the most tokens first. */
  usage(filter: { readonly since: number; readonly by?: UsageGrouping }): Promise<readonly UsageReport[]>;
}
