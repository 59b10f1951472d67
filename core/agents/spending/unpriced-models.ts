/** Models that are not called under a limit in US dollars, because their price is unknown. */
import {
  agentIds,
  agentSettings,
  budgetOf,
  type GatewayConfig,
  type Problem,
  providerOf,
  providerSettings,
  resolveModel,
} from "../../config/index.ts";
import { isPrivateHost } from "../../media/address.ts";
import { createPrices } from "./prices.ts";

const usdKeys = ["perDayUsd", "perMonthUsd", "perSenderPerDayUsd"] as const;

/** Any call would do: a model has a price for all of them, or for none. */
const someTokens = { inputTokens: 1_000, outputTokens: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export interface UsdLimit {
  readonly path: string;
  /** Whether it refuses what has no price. */
  readonly refuses: boolean;
}

export interface UnpricedModel extends UsdLimit {
  readonly model: string;
}

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

/** The first limit in US dollars of each agent that has one. */
export const usdLimits = (config: GatewayConfig): readonly UsdLimit[] =>
  agentIds(config).flatMap((id) => usdLimit(config, id) ?? []);

function usdLimit(config: GatewayConfig, id: string): UsdLimit | undefined {
  const own = budgetOf(config, id);
  const ownKey = usdKeys.find((key) => own.settings[key] !== undefined);
  if (ownKey !== undefined) return { path: own.pathOf(ownKey), refuses: own.settings.onUnpriced !== "allow" };
  const total = config.budget ?? {};
  const key = usdKeys.find((each) => total[each] !== undefined);
  return key === undefined ? undefined : { path: `budget.${key}`, refuses: total.onUnpriced !== "allow" };
}

/** Each model of an agent with a limit in US dollars whose price is unknown. */
export async function unpricedModels(config: GatewayConfig): Promise<readonly UnpricedModel[]> {
  const limited = agentIds(config).flatMap((id) => {
    const limit = usdLimit(config, id);
    return limit === undefined ? [] : modelsOf(config, id).map((model) => ({ ...limit, model }));
  });
  const prices = createPrices(() => config);
  const unknown = () => limited.filter(({ model }) => prices.of(model, someTokens).usd === null);
  // The list is large, and the configuration may have all prices.
  if (unknown().length === 0) return [];
  await prices.load();
  return [...new Map(unknown().map((one) => [one.model, one])).values()];
}

/** The same as warnings about the configuration. */
export async function unpricedProblems(config: GatewayConfig): Promise<readonly Problem[]> {
  const refused = (await unpricedModels(config)).filter(({ refuses }) => refuses);
  return refused.map(
    ({ path, model }): Problem => ({
      ...{ severity: "warning", path },
      message: `a limit in US dollars needs a price, and that of ${model} is unknown, so this model is not called`,
      hint: isOwnServer(config, providerOf(model))
        ? `If it costs nothing, set models.prices["${providerOf(model)}/*"] to { "input": 0, "output": 0 }.`
        : `Set models.prices["${model}"] to { "input": ..., "output": ... }, in US dollars for a million tokens.`,
    }),
  );
}

function isOwnServer(config: GatewayConfig, provider: string): boolean {
  const host = URL.parse(providerSettings(config, provider)?.address ?? "")?.hostname;
  return host !== undefined && isPrivateHost(host);
}
