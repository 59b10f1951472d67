/**
 * Says which model would answer an agent's next turn, and why those before it would not. Used by `/status`, `service
 * status` and `doctor`.
 */
import type { AgentSettings } from "../../config/index.ts";
import { findCode, reasonOf, type SkippedModel } from "../../contract/index.ts";
import { areSkippedModels, callPlugin, pluginDeadlines, unusable } from "../../host/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import { chooseEngine, type Engines, pluginOf } from "./engines.ts";
import { chooseModels } from "./models.ts";
import { type Providers, type ResolveProviders, readableModels } from "./providers.ts";

export interface ModelStanding {
  readonly engine: string;
  /** `provider/model`; absent if the agent has no model, or if each of them is in `skipped`. */
  readonly model?: string;
  /** The models that would be passed over, in the configured order. */
  readonly skipped: readonly SkippedModel[];
}

export interface ModelStandings {
  /**
   * `asked`: the model that a conversation chose. Rejects with the error that a turn would have, such as for an unknown
   * engine.
   */
  of(agent: AgentSettings, asked?: string): Promise<ModelStanding>;
}

export function createModelStandings(options: {
  readonly engines: Engines;
  readonly providers: ResolveProviders;
  readonly log: Pick<PluginLog, "warn">;
}): ModelStandings {
  const { engines, providers, log } = options;

  async function askEngine(
    id: string,
    models: { readonly model: string; readonly fallbacks: readonly string[] },
    usable: Providers["usable"],
  ) {
    const engine = engines.get(id);
    if (engine?.skipped === undefined) return [];
    const asked = { plugin: pluginOf(engines, id), doing: `skipped of the engine ${id}` };
    try {
      const skippedModels: unknown = await callPlugin(asked, pluginDeadlines.skipped, async () =>
        engine.skipped?.({ ...models, providers: usable }),
      );
      if (areSkippedModels(skippedModels)) return skippedModels;
      throw unusable(asked, "not a list of models with a reason and a detail");
    } catch (thrown) {
      log.warn({ engine: id, reason: reasonOf(thrown) }, "which models the engine passes over is unknown");
      return [];
    }
  }

  return {
    async of(agent, asked) {
      const chosen = chooseModels(agent, asked);
      const engine = chooseEngine(engines, agent, chosen.model);
      if (chosen.model === undefined || engine.needsModel !== true) {
        return { engine: engine.id, model: chosen.model, skipped: [] };
      }
      const names = [chosen.model, ...chosen.fallbacks];
      const known = providers(names);
      const { readable, skipped: unreadable } = readableModels(names, known);
      const [first, ...others] = readable;
      const resting =
        first === undefined ? [] : await askEngine(engine.id, { model: first, fallbacks: others }, known.usable);
      const passed = [...unreadable, ...resting];
      const skipped = names.flatMap((name) => passed.find(({ model }) => model === name) ?? []);
      const model = names.find((name) => !passed.some((one) => one.model === name));
      return { engine: engine.id, model, skipped };
    },
  };
}

/**
 * Why a model is passed over, for people who may not read the operator's details: `the quota is used up, asked again in
 * 9 min`.
 */
export function renderSkipped({ model, reason, until }: SkippedModel, now: number): string {
  const meaning = (findCode(reason)?.meaning ?? reason).replace(/\.$/, "");
  const minutes = until === undefined || until <= now ? undefined : Math.ceil((until - now) / 60_000);
  const again = minutes === undefined ? "" : `, asked again in ${minutes} min`;
  return `\`${model}\` (${meaning.charAt(0).toLowerCase()}${meaning.slice(1)}${again})`;
}
