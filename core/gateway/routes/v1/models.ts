/** Models and what they may cost. */
import { agentIds, defaultAgentId } from "../../../config/index.ts";
import { HttpProblem, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { gatherModels } from "../../../reports/index.ts";
import { optionalTextIn } from "./body.ts";
import type { V1Deps } from "./deps.ts";
import { carryOut } from "./recorded.ts";

type Answers = (deps: V1Deps, request: OwnRequest) => Promise<OwnAnswer>;

const jsonOf = (value: unknown): OwnAnswer["body"] => JSON.parse(JSON.stringify(value));
const mostTokens = 1_000_000_000_000;
const mostUsd = 1_000_000;

/** As `models list --json`, without a request to a server: a test shows whether a model answers. */
export const listModels: Answers = async ({ config, secrets, store, now }) => {
  const places = await gatherModels(config(), { secrets, store, now });
  return { body: jsonOf({ models: places.map(({ view }) => view) }) };
};

/** An agent of the configuration; the default one if none is named. */
function agentIn({ config }: V1Deps, body: unknown): string {
  const agent = optionalTextIn(body, "agent") ?? defaultAgentId(config());
  if (!agentIds(config()).includes(agent)) throw new HttpProblem("invalid_payload", `There is no agent ${agent}.`);
  return agent;
}

/** As `models test`. The call may cost money, and counts in the budgets. */
export const testModel: Answers = async (deps, request) => {
  const agent = agentIn(deps, request.body);
  const model = optionalTextIn(request.body, "model");
  return await carryOut(deps, request, { act: "model_test", subject: model ?? `the model of ${agent}` }, async () => ({
    body: jsonOf({ ok: true, test: await deps.testModel({ agent, ...(model !== undefined && { model }) }) }),
  }));
};

/** As `/budget add` of an owner: raises the limits of an agent, and those of all agents, until the period ends. */
export const addToBudget: Answers = async (deps, request) => {
  const { amount, unit, period } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
  const agentId = agentIn(deps, request.body);
  if (unit !== "usd" && unit !== "tokens") throw new HttpProblem("invalid_payload", "unit must be usd or tokens.");
  if (period !== "day" && period !== "month") throw new HttpProblem("invalid_payload", "period must be day or month.");
  const isRight = typeof amount === "number" && amount > 0 && amount <= (unit === "usd" ? mostUsd : mostTokens);
  if (!isRight || (unit === "tokens" && !Number.isInteger(amount)))
    throw new HttpProblem("invalid_payload", "amount must be above 0, and a whole number of tokens.");
  const subject = `${amount} ${unit} for the ${period}, ${agentId}`;
  return await carryOut(deps, request, { act: "budget_add", subject }, async () => {
    const raised = await deps.spending.add({ agentId, purpose: "turn" }, { amount, unit, period });
    if (raised.length === 0) throw new HttpProblem("not_found", `No budget in ${unit} for a ${period} applies here.`);
    const limits = raised.map(({ limit, used }) => ({ path: limit.path, total: limit.total, used }));
    return { body: jsonOf({ ok: true, raised: limits }) };
  });
};
