/** `usage`: what the models used and cost, and how much of the budgets is left. */
import { renderShare, renderUsd } from "../../agents/spending/wording.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { Cost } from "../../reports/costs.ts";
import { groupings, readUsage, type Usage, type UsageRow } from "../../reports/usage.ts";
import type { UsageGrouping } from "../../state/model-calls.ts";
import type { CommandContext } from "../context.ts";
import { parseSince, renderClock } from "../output/times.ts";

interface Options {
  readonly since: string;
  readonly days?: number;
  readonly by?: string;
  readonly json?: boolean;
}

const dayMs = 24 * 3_600_000;

export async function showUsage(context: CommandContext, _: readonly [], options: Options): Promise<number> {
  const { days, json } = options;
  if (days === 0) throw new HostError("usage", { reason: "--days must be at least 1" });
  const by = options.by === undefined ? undefined : groupingOf(options.by);
  const since =
    days === undefined
      ? parseSince(options.since, context.now())
      : parseSince("today", context.now() - (days - 1) * dayMs);
  const { config } = await context.load();
  const store = await context.openState();
  try {
    const found = await readUsage(store, { config, since, by, now: context.now() });
    if (json === true) context.terminal.json(found);
    else show({ ...found, by }, context);
    return 0;
  } finally {
    await store.close();
  }
}

function groupingOf(text: string): UsageGrouping {
  const found = groupings.find((grouping) => grouping === text);
  if (found === undefined)
    throw new HostError("usage", { reason: `--by: "${text}" is none of ${groupings.join(", ")}` });
  return found;
}

function renderCost({ usd, unpricedCalls, calls }: Cost): string {
  if (unpricedCalls === 0) return renderUsd(usd);
  return unpricedCalls === calls ? "unknown" : `${renderUsd(usd)} + ${unpricedCalls} unknown`;
}

const titles: Readonly<Record<UsageGrouping, string>> = {
  agent: "agent",
  model: "model",
  sender: "person",
  purpose: "purpose",
};

function show(found: Usage & { readonly by: UsageGrouping | undefined }, { terminal }: CommandContext): void {
  const { usage, total, budgets, since, by } = found;
  const dim = (cell: string) => terminal.style("dim", cell);
  if (usage.length === 0) terminal.line(`No model was called since ${renderClock(since)}.`);
  else {
    const cached = total.cacheRead > 0;
    const numbers = (cost: Cost) => [
      String(cost.calls),
      String(cost.inputTokens),
      ...(cached ? [String(cost.cacheRead)] : []),
      String(cost.outputTokens),
      renderCost(cost),
    ];
    const names = ({ agentId = "", model = "", sender, purpose }: UsageRow) =>
      by === undefined
        ? [visibleLine(agentId, 40), visibleLine(model, 80)]
        : [visibleLine(sender ?? purpose ?? (agentId || model), 80) || "-"];
    terminal.line(`Since ${renderClock(since)}:`);
    terminal.table([
      [
        ...(by === undefined ? ["agent", "model"] : [titles[by]]),
        ...["calls", "input tokens", ...(cached ? ["of these cached"] : []), "output tokens", "cost"],
      ].map(dim),
      ...usage.map((row) => [...names(row), ...numbers(row)]),
      ...(usage.length === 1 ? [] : [["total", ...(by === undefined ? [""] : []), ...numbers(total)]]),
    ]);
    if (total.estimated > 0)
      terminal.line(`${total.estimated} of the calls broke off or still run: their tokens are estimates.`);
    if (total.unpricedCalls > 0) terminal.line("The price of some models is unknown: set models.prices for them.");
  }
  if (budgets.length === 0) return;
  terminal.line("Budgets:");
  terminal.table(
    budgets.map(({ path, agentId = "", period, unit, used, total: limit }) => [
      path,
      agentId,
      `${renderShare(used, limit, unit)} ${period === "day" ? "today" : "this month"}`,
    ]),
  );
}
