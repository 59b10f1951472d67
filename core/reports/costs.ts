/** Adds prices to reports of the ledger: calls that were recorded while no limit needed prices have none. */
import type { Price } from "../agents/spending/prices.ts";
import type { TokenCounts, UsageReport } from "../state/model-calls.ts";

export interface Cost extends TokenCounts {
  readonly calls: number;
  readonly estimated: number;
  /** US dollars of the calls with a known price. */
  readonly usd: number;
  /** Calls whose price is unknown. */
  readonly unpricedCalls: number;
}

export const noCost: Cost = {
  ...{ calls: 0, estimated: 0, usd: 0, unpricedCalls: 0 },
  ...{ inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
};

export function addCosts(one: Cost, other: Cost): Cost {
  return {
    calls: one.calls + other.calls,
    estimated: one.estimated + other.estimated,
    usd: one.usd + other.usd,
    unpricedCalls: one.unpricedCalls + other.unpricedCalls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    reasoning: one.reasoning + other.reasoning,
  };
}

/** The price of calls that are known by their sum, as if all were of the same size: some prices depend on the size. */
function priceOfSum(
  { calls, ...tokens }: UsageReport["unpriced"],
  price: (tokens: TokenCounts) => Price,
): number | undefined {
  const mean = (sum: number) => sum / calls;
  const one = price({
    inputTokens: mean(tokens.inputTokens),
    outputTokens: mean(tokens.outputTokens),
    cacheRead: mean(tokens.cacheRead),
    cacheWrite: mean(tokens.cacheWrite),
    reasoning: mean(tokens.reasoning),
  });
  return one.usd === null ? undefined : one.usd * calls;
}

export function costOf(report: UsageReport, priceOf: (model: string, tokens: TokenCounts) => Price): Cost {
  const { calls, estimated, usd, unpriced, inputTokens, outputTokens, cacheRead, cacheWrite, reasoning } = report;
  const rest = unpriced.calls === 0 ? 0 : priceOfSum(unpriced, (tokens) => priceOf(report.model, tokens));
  return {
    ...{ calls, estimated, inputTokens, outputTokens, cacheRead, cacheWrite, reasoning },
    usd: usd + (rest ?? 0),
    unpricedCalls: rest === undefined ? unpriced.calls : 0,
  };
}
