/** Refuses requests whose runs a budget would refuse, so that the sender learns it and can send again later. */
import { HttpProblem } from "../../http/index.ts";

interface UsedUp {
  /** Epoch milliseconds from which the agent may run again. */
  readonly until: number;
  /** The setting, how much of it is used and what to change, for the operator. */
  readonly path: string;
  readonly detail: string;
  readonly hint: string;
}

/** The response while a budget is used up. `detail`, `path` and `hint` are for the operator only. */
export class BudgetProblem extends HttpProblem {
  readonly detail: string;
  readonly path: string;
  readonly hint: string;

  constructor({ until, path, detail, hint }: UsedUp, now: number) {
    super("budget_exceeded", "The budget of the agent is used up; send the request again later.", {
      "retry-after": String(Math.max(1, Math.ceil((until - now) / 1_000))),
    });
    this.detail = `${detail}.`;
    this.path = path;
    this.hint = hint;
  }
}

/** Resolves with `undefined` if the agent has no budget, or if there is room in it. */
export type BudgetOf = (agentId: string) => Promise<UsedUp | undefined>;

/** Rejects with the `HttpProblem` `budget_exceeded`. */
export async function requireBudget(
  agentIds: readonly string[],
  { budgetOf, now }: { readonly budgetOf: BudgetOf; readonly now: () => number },
): Promise<void> {
  const usedUp = (await Promise.all(agentIds.map(budgetOf))).find((one) => one !== undefined);
  if (usedUp !== undefined) throw new BudgetProblem(usedUp, now());
}
