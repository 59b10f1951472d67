/** Which engine and models answer in a conversation, and how much of it they read. */
import { type AgentSettings, type AgentsView, agentSettings, knownAgentId, resolveModel } from "../../config/index.ts";
import type { Inbound, Route, SkippedModel } from "../../contract/index.ts";
import type { EngineDefinition, ModelRoom, PluginLog } from "../../sdk/contract.ts";
import type { SessionRecord, Store } from "../../state/index.ts";
import type { Visit } from "../../stations/index.ts";
import type { ModelRooms } from "../context/model-rooms.ts";
import { chooseEngine, type Engines, retainedEngines } from "./engines.ts";
import { chooseModels, type Models, modelsOf } from "./models.ts";
import { type Providers, type ResolveProviders, usableModels } from "./providers.ts";

export interface TurnChoiceOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session">;
  readonly engines: Engines;
  readonly providers: ResolveProviders;
  readonly rooms: ModelRooms;
  /** How many user turns of the transcript the model is sent; absent: all. */
  readonly historyLimit?: (inbound: Inbound, route: Route) => number | undefined;
  readonly log: Pick<PluginLog, "warn">;
}

export interface TurnChoice {
  readonly config: AgentsView;
  readonly agent: AgentSettings;
  readonly session: SessionRecord | null;
  readonly generation: number;
  readonly engine: EngineDefinition;
  readonly models: Models;
  readonly skipped: readonly SkippedModel[];
  readonly providers: Providers;
  /** User turns of the conversation that the model reads; 0: none. */
  readonly userTurns: number;
}

/** Bounds the prompt where no history limit is configured. */
const defaultHistoryTurns = 100;

function chosenModel(session: SessionRecord | null): string | undefined {
  const chosen = session?.settings.model;
  return typeof chosen === "string" ? chosen : undefined;
}

export function createTurnChoice({
  config: configured,
  store,
  engines,
  providers: resolve,
  historyLimit,
  log,
}: TurnChoiceOptions): (inbound: Inbound, route: Route, visit: Visit) => Promise<TurnChoice> {
  /**
   * A session's own choice, unless the list of allowed models no longer has it: then the default answers, not an error
   * for ever.
   */
  function sessionModel(agent: AgentSettings, session: SessionRecord | null): string | undefined {
    const chosen = chosenModel(session);
    if (chosen === undefined || resolveModel(chosen, agent.models) !== undefined) return chosen;
    log.warn({ session: session?.key, model: chosen }, "the session's model is no longer allowed; the default is used");
    return undefined;
  }

  return async (inbound, route, visit) => {
    const config = configured();
    const agent = agentSettings(config, knownAgentId(config, route.agentId));
    const session = await store.session(route.sessionKey);
    const chosen = chooseModels(agent, inbound.request?.model ?? sessionModel(agent, session));
    const engine = chooseEngine(retainedEngines(visit, engines), agent, chosen.model);
    const providers = resolve(modelsOf(chosen));
    const { models, skipped } =
      engine.needsModel === true ? usableModels(chosen, providers) : { models: chosen, skipped: [] };
    const userTurns = historyLimit?.(inbound, route) ?? agent.historyTurns ?? defaultHistoryTurns;
    const isAlone = route.isolated || engine.stateless === true;
    const generation = session?.generation ?? 0;
    return {
      ...{ config, agent, session, generation, engine, models, skipped, providers },
      userTurns: isAlone ? 0 : userTurns,
    };
  };
}

/** What is known about the contexts of the models of a choice. */
export async function roomsOf(
  { models, providers }: Pick<TurnChoice, "models" | "providers">,
  rooms: ModelRooms,
): Promise<Readonly<Record<string, ModelRoom>>> {
  return await rooms.of(modelsOf(models), providers.usable);
}
