/**
 * Distinguishes a limit that is used up from one that has refused a large call and has room for others. Kept in memory:
 * a restart learns it again.
 */
import type { ModelCall, Spent } from "../../state/index.ts";
import { type AppliedLimit, type Balance, usedOf } from "./applied.ts";

export interface BudgetRoom {
  /** A limit had room for the call. */
  admitted(call: ModelCall): void;
  refused(limit: AppliedLimit): void;
  /** Whether the limit has refused a call in its period. */
  hasRefused(limit: AppliedLimit): boolean;
  /**
   * Not even the smallest call of the agent so far would fit. While none is known, a limit counts as used up from
   * `warnAt` on.
   */
  isUsedUp(balance: Balance, agentId: string): boolean;
}

const mostRefusing = 1_000;

export function createBudgetRoom(): BudgetRoom {
  /** By agent. */
  const smallest = new Map<string, Spent>();
  const refusing = new Set<string>();
  const periodOf = ({ path, span }: AppliedLimit): string => `${path} ${span.start}`;
  return {
    admitted({ agentId, inputTokens, outputTokens, usd }) {
      const call = { tokens: inputTokens + outputTokens, usd: usd ?? 0 };
      const before = smallest.get(agentId) ?? call;
      smallest.set(agentId, { tokens: Math.min(before.tokens, call.tokens), usd: Math.min(before.usd, call.usd) });
    },
    refused(limit) {
      if (refusing.size > mostRefusing) refusing.clear();
      refusing.add(periodOf(limit));
    },
    hasRefused: (limit) => refusing.has(periodOf(limit)),
    isUsedUp({ limit, used }, agentId) {
      const call = smallest.get(agentId);
      if (used >= limit.total) return true;
      return call === undefined ? used >= limit.warnAt * limit.total : used + usedOf(limit, call) > limit.total;
    },
  };
}
