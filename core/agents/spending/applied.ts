/** The limits that apply to a call at this moment: their period, what was added to them, and which calls they sum. */
import type { SpendingLimit, Spent, Store } from "../../state/index.ts";
import type { Asker } from "./asker.ts";
import type { Grants } from "./grants.ts";
import type { Limit } from "./limits.ts";
import type { Period, Span } from "./periods.ts";

export interface AppliedLimit extends Limit {
  readonly span: Span;
  /** With what an owner added. */
  readonly total: number;
  /** As the store compares it. */
  readonly asked: SpendingLimit;
}

/** A limit and what its calls have used. */
export interface Balance {
  readonly limit: AppliedLimit;
  readonly used: number;
}

export const usedOf = ({ unit }: Pick<Limit, "unit">, { tokens, usd }: Spent): number =>
  unit === "tokens" ? tokens : usd;

export function createApplied(options: {
  readonly grants: Pick<Grants, "of">;
  readonly spanOf: (period: Period, at: number, timezone: string | undefined) => Span;
}): (limits: readonly Limit[], asker: Asker, at: number) => Promise<readonly AppliedLimit[]> {
  return async (limits, asker, at) => {
    const { sender, channel } = asker;
    const concerned = limits
      // Only people have a limit of their own.
      .filter(({ scope }) => scope !== "sender" || sender !== undefined)
      .map((limit) => ({ limit, span: options.spanOf(limit.period, at, limit.timezone) }));
    const added = await options.grants.of(concerned);
    return concerned.map(({ limit, span }, index): AppliedLimit => {
      const total = limit.amount + (added[index] ?? 0);
      return {
        ...limit,
        span,
        total,
        asked: {
          since: span.start,
          agentId: limit.agentId,
          ...(limit.scope === "sender" && sender !== undefined && channel !== undefined
            ? { sender: { channel, id: sender } }
            : {}),
          ...(limit.unit === "tokens" ? { tokens: total } : { usd: total }),
        },
      };
    });
  };
}

export async function balancesOf(
  store: Pick<Store, "spent">,
  limits: readonly AppliedLimit[],
): Promise<readonly Balance[]> {
  const spent = limits.length === 0 ? [] : await store.spent(limits.map(({ asked }) => asked));
  return limits.map((limit, index) => ({ limit, used: usedOf(limit, spent[index] ?? { tokens: 0, usd: 0 }) }));
}
