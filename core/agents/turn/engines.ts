/** The engines that plugins bring: which of them runs a turn, and what they load before the first one. */
import { type AgentSettings, type AgentsView, agentIds, agentSettings } from "../../config/index.ts";
import { EngineError, HostError, PluginError, reasonOf } from "../../contract/index.ts";
import { callPlugin, pluginDeadlines } from "../../host/index.ts";
import type { EngineDefinition, PluginLog } from "../../sdk/contract.ts";
import { carried, type Visit } from "../../stations/index.ts";
import { chooseModels } from "./models.ts";

export interface Engines {
  get(id: string): EngineDefinition | undefined;
  /** The plugin that brought it. */
  plugin?(id: string): string | undefined;
  ids(): readonly string[];
}

const metEngines = carried<Engines>("metEngines");

/** The event keeps the engines that there are now: a plugin that is replaced later does not change under it. */
export function keepEngines(visit: Visit, engines: Engines): void {
  visit.set(metEngines, engines);
}

/** The engines that the event keeps; without a beginning, `engines`. */
export function retainedEngines(visit: Visit, engines: Engines): Engines {
  return visit.get(metEngines) ?? engines;
}

/**
 * Configured by name, else the first that fits: one that needs a model when there is one, one that does not otherwise.
 */
export function chooseEngine(engines: Engines, agent: AgentSettings, model: string | undefined): EngineDefinition {
  const all = engines.ids().flatMap((id) => engines.get(id) ?? []);
  const chosen =
    agent.engine !== undefined
      ? engines.get(agent.engine)
      : all.find((engine) => (engine.needsModel === true) === (model !== undefined));
  if (chosen !== undefined) return chosen;
  const wanted = agent.engine ?? (model === undefined ? "that works without a model" : `for the model ${model}`);
  throw new HostError("engine_unknown", { engine: wanted, known: engines.ids().join(", ") || "none" });
}

export function pluginOf(engines: Engines, engine: string): string {
  return engines.plugin?.(engine) ?? engine;
}

/** What an engine threw, as it is reported. */
export function engineFailure(engines: Engines, engine: string, thrown: unknown): Error {
  if (thrown instanceof HostError || thrown instanceof EngineError) return thrown;
  const details = {
    plugin: pluginOf(engines, engine),
    engine,
    reason: reasonOf(thrown),
    fix: "Read the log lines of this turn.",
  };
  return new PluginError("engine_failed", details, { cause: thrown });
}

/** Lets the engines of the configured agents load what takes long. What fails is logged. */
export async function prepareEngines(
  engines: Engines,
  { config, log }: { readonly config: AgentsView; readonly log: Pick<PluginLog, "warn"> },
): Promise<void> {
  for (const id of agentIds(config)) {
    try {
      const agent = agentSettings(config, id);
      const engine = chooseEngine(engines, agent, chooseModels(agent, undefined).model);
      const asked = { plugin: pluginOf(engines, engine.id), doing: `prepare of the engine ${engine.id}` };
      await callPlugin(asked, pluginDeadlines.prepare, () => engine.prepare?.());
    } catch (thrown) {
      log.warn({ agent: id, reason: reasonOf(thrown) }, "the agent's engine is not ready");
    }
  }
}
