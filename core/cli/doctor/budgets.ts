/** Checks budgets: those that are used up, and in US dollars also models whose price is unknown. */
import { unpricedModels } from "../../agents/spending/unpriced-models.ts";
import { periodWords, raising, renderShare } from "../../agents/spending/wording.ts";
import { HostError } from "../../contract/errors.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk } from "./finding.ts";

/** Part of the check of the agents. */
export async function checkUnpriced({ loaded: { config } }: CheckInput): Promise<readonly Finding[]> {
  return (await unpricedModels(config)).map(({ path, model, refuses }): Finding => {
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
