/** Checks budgets: those that are used up, and in US dollars also models whose price is unknown. */
import { createPrices } from "../../agents/spending/prices.ts";
import { periodWords, raising, renderShare } from "../../agents/spending/wording.ts";
import { agentIds, agentSettings, budgetOf } from "../../config/agents.ts";
import { resolveModel } from "../../config/model-names.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { HostError } from "../../contract/errors.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk } from "./finding.ts";

const usdKeys = ["perDayUsd", "perMonthUsd", "perSenderPerDayUsd"] as const;

/** Any call would do: a model has a price for all of them, or for none. */
const someTokens = { inputTokens: 1_000, outputTokens: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

function modelsOf(config: GatewayConfig, id: string): readonly string[] {
  const { model, models } = agentSettings(config, id);
  const names =
    model === undefined
      ? []
      : typeof model === "string"
        ? [model]
        : [model.primary ?? [], model.fallbacks ?? []].flat();
  return names.flatMap((name) => resolveModel(name, models) ?? resolveModel(name, undefined) ?? []);
}

interface UsdLimit {
  readonly path: string;
  readonly refuses: boolean;
}

/** The first limit in US dollars of each agent that has one. */
export const usdLimits = (config: GatewayConfig): readonly UsdLimit[] =>
  agentIds(config).flatMap((id) => usdLimit(config, id) ?? []);

/** The first limit in US dollars that applies to an agent, and whether it refuses what has no price. */
function usdLimit(config: GatewayConfig, id: string): UsdLimit | undefined {
  const own = budgetOf(config, id);
  const ownKey = usdKeys.find((key) => own.settings[key] !== undefined);
  if (ownKey !== undefined) return { path: own.pathOf(ownKey), refuses: own.settings.onUnpriced !== "allow" };
  const total = config.budget ?? {};
  const key = usdKeys.find((each) => total[each] !== undefined);
  return key === undefined ? undefined : { path: `budget.${key}`, refuses: total.onUnpriced !== "allow" };
}

/** Part of the check of the agents. */
export async function unpricedModels({ loaded: { config } }: CheckInput): Promise<readonly Finding[]> {
  const limited = agentIds(config).flatMap((id) => {
    const limit = usdLimit(config, id);
    return limit === undefined ? [] : modelsOf(config, id).map((model) => ({ ...limit, model }));
  });
  if (limited.length === 0) return [];
  const prices = createPrices(() => config);
  await prices.load();
  const unpriced = limited.filter(({ model }) => prices.of(model, someTokens).usd === null);
  return [...new Map(unpriced.map((one) => [one.model, one])).values()].map(({ path, model, refuses }): Finding => {
    const effect = refuses ? "it is not called" : "its calls do not count towards the limit";
    return {
      ...{ check: "agents", verdict: refuses ? "fail" : "warn", path },
      reason: `the price of ${model} is unknown, so ${effect}`,
      fix:
        `Set models.prices["${model}"] to { "input": ..., "output": ... }, in US dollars for a million ` +
        "tokens; 0 if it costs nothing.",
    };
  });
}

/** A limit that is used up stops every agent that it applies to, although everything else works. */
export function checkBudgets({ state }: CheckInput): readonly Finding[] {
  if (state === undefined || state instanceof HostError) return [];
  const found = state.budgets.flatMap((row): readonly Finding[] => {
    const { path, agentId, period, unit, used, total } = row;
    if (used < total) return [];
    const whose = agentId === undefined ? "" : ` of ${agentId}`;
    return [
      {
        ...{ check: "budgets", verdict: "warn", path, fix: raising(row) },
        reason:
          `the limit${whose} is used up: ${renderShare(used, total, unit)} ${periodWords[period]}, so no model is ` +
          "called until it is renewed",
      },
    ];
  });
  return orOk(found, "budgets", state.budgets.length === 0 ? "none is set" : "no limit is used up");
}
