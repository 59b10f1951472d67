/** How much of each budget is used, read from the state. */
import type { AppliedLimit } from "../agents/spending/applied.ts";
import { createSpending } from "../agents/spending/spending.ts";
import { agentIds } from "../config/agents.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { Store } from "../state/store.ts";

/** How much of a limit is used. */
export interface BudgetRow extends Pick<AppliedLimit, "path" | "period" | "unit" | "total"> {
  readonly agentId?: string;
  readonly used: number;
}

/** Limits of all agents and of each agent; those of single people are left out. */
export async function readBudgets(store: Store, config: GatewayConfig, now: number): Promise<readonly BudgetRow[]> {
  const silent = { info() {}, warn() {} };
  const spending = createSpending({
    config: () => config,
    store,
    now: () => now,
    newId: () => "",
    log: silent,
    notifyOwner: async () => false,
  });
  const rows = new Map<string, BudgetRow>();
  for (const agentId of agentIds(config)) {
    for (const { limit, used } of await spending.balances({ agentId, purpose: "turn" })) {
      const { path, period, unit, total } = limit;
      const owner = limit.agentId === undefined ? {} : { agentId: limit.agentId };
      rows.set(`${path} ${limit.agentId ?? ""}`, { path, ...owner, period, unit, used, total });
    }
  }
  return [...rows.values()];
}
