/** What listens to sound files, as the configuration says: what transcribes them, and models in conversations. */
import {
  type AgentsView,
  agentSettings,
  type GatewayConfig,
  knownAgentId,
  providerOf,
  providerSettings,
} from "../../config/index.ts";
import { HostError } from "../../contract/index.ts";
import { chooseModels, modelsOf } from "./models.ts";
import { knownModels } from "./providers.ts";

/** Whether the operator says so. */
function hears(config: AgentsView, model: string): boolean {
  const { models = {} } = providerSettings(config, providerOf(model)) ?? {};
  const known = knownModels(models);
  const id = model.slice(model.indexOf("/") + 1);
  return Object.hasOwn(known, id) && known[id]?.audio === true;
}

type Lists<T> = T extends readonly (infer One)[] ? One : T;

/** What transcribes: a model or a program. */
export type Listener = Lists<NonNullable<NonNullable<GatewayConfig["models"]["speech"]>["in"]>>;

/**
 * The models of an agent that listen themselves, in the order in which they are asked. `asked`: the choice of a
 * session.
 */
export function hearingModels(config: AgentsView, agentId: string | undefined, asked?: string): readonly string[] {
  try {
    const agent = agentSettings(config, knownAgentId(config, agentId));
    return modelsOf(chooseModels(agent, asked)).filter((model) => hears(config, model));
  } catch (error) {
    // The turn reports a name that is unknown.
    if (error instanceof HostError) return [];
    throw error;
  }
}

/**
 * In the order in which they are tried; empty if nothing transcribes. What is set for that writes down every word; a
 * model that listens in conversations comes after it.
 */
export function listenersOf(
  config: Pick<GatewayConfig, "models" | "agents">,
  agentId: string | undefined,
): readonly Listener[] {
  const listeners = config.models.speech?.in ?? [];
  const all: readonly Listener[] = Array.isArray(listeners) ? listeners : [listeners as Listener];
  const named = new Set(all.map(({ model }) => model));
  const others = hearingModels(config, agentId).filter((model) => !named.has(model));
  return [...all, ...others.map((model) => ({ model }))];
}
