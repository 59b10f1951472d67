/** What an owner added to the limits of the current day or month with `/budget add`. */
import type { Store } from "../../state/index.ts";
import type { Limit, Unit } from "./limits.ts";
import type { Period, Span } from "./periods.ts";

/** Also that of the notices, which are remembered for the same time. */
export const budgetNamespace = "budget";

/** A limit as a part of a key. */
export const scopeOf = ({ scope, agentId }: Pick<Limit, "scope" | "agentId">): string =>
  agentId === undefined ? scope : `${scope}:${agentId}`;

export interface Grants {
  /** What was added to each limit, in the same order. */
  of(limits: readonly { readonly limit: Limit; readonly span: Span }[]): Promise<readonly number[]>;
  add(to: { readonly limit: Limit; readonly span: Span }, amount: number): Promise<void>;
}

export function createGrants(store: Pick<Store, "list" | "update">): Grants {
  const prefix = "added:";
  const keyOf = ({ limit, span }: { readonly limit: Limit; readonly span: Span }): string =>
    prefix + JSON.stringify([scopeOf(limit), limit.period satisfies Period, limit.unit satisfies Unit, span.start]);
  const amountOf = (value: unknown): number => (typeof value === "number" ? value : 0);
  return {
    async of(limits) {
      if (limits.length === 0) return [];
      const added = new Map(
        (await store.list(budgetNamespace, { prefix })).map(({ key, value }) => [key, amountOf(value)]),
      );
      return limits.map((each) => added.get(keyOf(each)) ?? 0);
    },
    async add(to, amount) {
      await store.update(budgetNamespace, keyOf(to), (value) => amountOf(value) + amount, { expiresAt: to.span.end });
    },
  };
}
