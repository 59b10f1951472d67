/** What the models used and cost, and how much of the budgets is left. */
import { createPrices } from "../agents/spending/prices.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { UsageGrouping } from "../state/model-calls.ts";
import type { Store } from "../state/store.ts";
import { type BudgetRow, readBudgets } from "./budgets.ts";
import { addCosts, type Cost, costOf, noCost } from "./costs.ts";

export const groupings: readonly UsageGrouping[] = ["agent", "model", "sender", "purpose"];

/** One line of the table: the calls of one group, of one model if nothing is grouped. */
export interface UsageRow extends Cost {
  readonly agentId?: string;
  readonly model?: string;
  readonly sender?: string;
  readonly purpose?: string;
}

export interface Usage {
  readonly since: number;
  readonly usage: readonly UsageRow[];
  readonly total: Cost;
  readonly budgets: readonly BudgetRow[];
}

export async function readUsage(
  store: Store,
  {
    now,
    ...asked
  }: {
    readonly config: GatewayConfig;
    readonly since: number;
    readonly by: UsageGrouping | undefined;
    readonly now: number;
  },
): Promise<Usage> {
  const usage = await readRows(store, asked);
  const total = pick(usage.reduce<Cost>(addCosts, noCost));
  return { since: asked.since, usage, total, budgets: await readBudgets(store, asked.config, now) };
}

/** A row begins with a total's fields alone. */
function pick({
  calls,
  estimated,
  usd,
  unpricedCalls,
  inputTokens,
  outputTokens,
  cacheRead,
  cacheWrite,
  reasoning,
}: Cost): Cost {
  return { calls, inputTokens, outputTokens, cacheRead, cacheWrite, reasoning, usd, unpricedCalls, estimated };
}

async function readRows(
  store: Pick<Store, "usage">,
  {
    config,
    since,
    by,
  }: { readonly config: GatewayConfig; readonly since: number; readonly by: UsageGrouping | undefined },
): Promise<readonly UsageRow[]> {
  const reports = await store.usage({ since, by });
  const prices = createPrices(() => config);
  if (reports.some(({ unpriced }) => unpriced.calls > 0)) await prices.load();
  if (by === undefined)
    return reports.map((report) => ({
      agentId: report.agentId,
      model: report.model,
      ...pick(costOf(report, prices.of)),
    }));
  const rows = new Map<string, UsageRow>();
  for (const report of reports) {
    const { agentId, model, sender = "", purpose = "" } = report;
    const { [by]: key } = { agent: agentId, model, sender, purpose };
    const name = { agent: { agentId }, model: { model }, sender: { sender }, purpose: { purpose } }[by];
    rows.set(key, { ...name, ...pick(addCosts(rows.get(key) ?? noCost, costOf(report, prices.of))) });
  }
  return [...rows.values()].toSorted((one, other) => tokensOf(other) - tokensOf(one));
}

const tokensOf = ({ inputTokens, outputTokens }: Cost): number => inputTokens + outputTokens;
