/** Asks a model something short, for the operator who wants to know whether it answers, and how soon. */
import { type AgentsView, agentSettings, knownAgentId, resolveModel } from "../../config/index.ts";
import { EngineError, HostError, type Inbound, reasonOf } from "../../contract/index.ts";
import type { EngineTurn } from "../../sdk/contract.ts";
import type { Spending } from "../spending/spending.ts";
import { chooseEngine, type Engines, engineFailure } from "./engines.ts";
import { chooseModels, modelsOf } from "./models.ts";
import { type ResolveProviders, usableModels } from "./providers.ts";

/** A local model may have to be loaded first. */
const longestMs = 120_000;

export interface ModelTest {
  readonly agent: string;
  readonly model: string;
  /** The first word of the reply, and its end, after the request; absent if it failed. */
  readonly firstWordMs?: number;
  readonly totalMs?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly error?: { readonly code: string; readonly reason: string; readonly hint?: string };
}

export type TestModel = (asked: { readonly model?: string; readonly agent?: string }) => Promise<ModelTest>;

/** Engines are handed what caused a turn. */
const question = "Reply with the word OK.";

const inboundOf = (id: string, now: number): Inbound => ({
  id,
  channel: "operator",
  account: "",
  kind: "system",
  chat: { id: "test", kind: "direct" },
  sender: { id: "operator" },
  text: question,
  media: [],
  mention: true,
  timestamp: now,
  authority: "operator",
});

function problemOf(thrown: unknown): NonNullable<ModelTest["error"]> {
  const reason = reasonOf(thrown).replace(/\.$/, "");
  if (thrown instanceof EngineError) return { code: thrown.reason, reason, ...(thrown.hint && { hint: thrown.hint }) };
  if (thrown instanceof HostError) return { code: thrown.code, reason, ...(thrown.hint && { hint: thrown.hint }) };
  return { code: "internal", reason };
}

export function createModelTest(options: {
  readonly config: () => AgentsView;
  readonly engines: Engines;
  readonly providers: ResolveProviders;
  readonly spending: Pick<Spending, "meter">;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  readonly newId: () => string;
}): TestModel {
  const { engines, now, elapsed } = options;

  async function ask(agentId: string, model: string): Promise<Omit<ModelTest, "agent" | "model">> {
    const config = options.config();
    const agent = agentSettings(config, agentId);
    const engine = chooseEngine(engines, agent, model);
    const providers = options.providers([model]);
    const { models } = usableModels({ model, fallbacks: [] }, providers);
    const inbound = inboundOf(options.newId(), now());
    const turn: EngineTurn = {
      ...models,
      agentId,
      sessionKey: `agent:${agentId}:test`,
      inbound,
      thinking: "off",
      instructions: "You are tested for whether you reply at all.",
      messages: [{ role: "user", text: question }],
      tools: [],
      providers: providers.usable,
      spending: options.spending.meter({ agentId, purpose: "test", eventId: inbound.id }).spending,
    };
    let began = elapsed();
    let firstWordMs: number | undefined;
    let used: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
    try {
      // What the engine loads is not the time of the model.
      await engine.prepare?.();
      began = elapsed();
      for await (const event of engine.run(turn, AbortSignal.timeout(longestMs))) {
        if (event.type === "text") firstWordMs ??= Math.round(elapsed() - began);
        if (event.type === "usage") used = event;
      }
    } catch (thrown) {
      throw engineFailure(engines, engine.id, thrown);
    }
    const tokens = used && { inputTokens: used.inputTokens, outputTokens: used.outputTokens };
    return { firstWordMs, totalMs: Math.round(elapsed() - began), ...tokens };
  }

  return async (asked) => {
    const config = options.config();
    const agentId = knownAgentId(config, asked.agent);
    const agent = agentSettings(config, agentId);
    const named = asked.model;
    const modelOf = () =>
      named === undefined
        ? modelsOf(chooseModels(agent, undefined))[0]
        : (resolveModel(named, agent.models) ?? resolveModel(named, undefined));
    let model: string | undefined;
    try {
      // Throws if the agent's own model is not one.
      model = modelOf();
      if (model === undefined) throw new HostError("model_unknown", { model: named ?? `of the agent ${agentId}` });
      return { agent: agentId, model, ...(await ask(agentId, model)) };
    } catch (thrown) {
      return { agent: agentId, model: model ?? named ?? "", error: problemOf(thrown) };
    }
  };
}
