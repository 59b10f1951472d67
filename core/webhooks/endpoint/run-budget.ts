/** Refuses requests whose runs a budget would refuse, so that the sender learns it and can send again later. */
import { HttpProblem } from "../../http/index.ts";

interface UsedUp {
  /** Epoch milliseconds from which the agent may run again. */
  readonly until: number;
}

/** `undefined` without a promise if the agent has no budget; resolves with `undefined` if there is room in it. */
export type BudgetOf = (agentId: string) => Promise<UsedUp | undefined> | undefined;

/** Throws `HttpProblem` `budget_exceeded`. `undefined` if there are no budgets, so that nothing waits. */
export function requireBudget(
  agentIds: readonly string[],
  { budgetOf, now }: { readonly budgetOf: BudgetOf; readonly now: () => number },
): Promise<void> | undefined {
  const asked = agentIds.flatMap((agentId) => budgetOf(agentId) ?? []);
  return asked.length === 0 ? undefined : refuse(asked, now);
}

async function refuse(asked: readonly Promise<UsedUp | undefined>[], now: () => number): Promise<void> {
  const usedUp = (await Promise.all(asked)).find((one) => one !== undefined);
  if (usedUp === undefined) return;
  const seconds = Math.max(1, Math.ceil((usedUp.until - now()) / 1_000));
  throw new HttpProblem("budget_exceeded", "The budget of the agent is used up; send the request again later.", {
    "retry-after": String(seconds),
  });
}
