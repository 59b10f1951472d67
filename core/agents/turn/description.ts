/**
 * Describes an image in words, using the model of the agent that will answer. Meant for images that recur, such as
 * stickers.
 */

import { type AgentsView, agentSettings, knownAgentId } from "../../config/index.ts";
import { reasonOf } from "../../contract/index.ts";
import { callPlugin, kindOf, pluginDeadlines, unusable } from "../../host/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Asker } from "../spending/asker.ts";
import type { Spending } from "../spending/spending.ts";
import { chooseEngine, type Engines } from "./engines.ts";
import { chooseModels, modelsOf } from "./models.ts";
import { type ResolveProviders, usableModels } from "./providers.ts";

const patienceMs = 30_000;
/** Room for one or two sentences; longer descriptions are cut. */
const maxCharacters = 500;

export type Describe = (
  image: { readonly path: string; readonly mimeType: string },
  /** For whom. */
  asker: Asker,
  signal: AbortSignal,
) => Promise<string | undefined>;

/**
 * Resolves with `undefined` if no model accepts images or if the call fails, so that a message is never delayed
 * further. Rejects with the signal's reason when interrupted, because an interrupted call has not failed and may be
 * repeated.
 */
export function createDescribe(options: {
  readonly config: () => AgentsView;
  readonly engines: Engines;
  readonly providers: ResolveProviders;
  readonly spending: Spending;
  readonly log: Pick<PluginLog, "warn">;
}): Describe {
  return async (image, asker, signal) => {
    try {
      const config = options.config();
      const agent = agentSettings(config, knownAgentId(config, asker.agentId));
      const models = chooseModels(agent, undefined);
      const engine = chooseEngine(options.engines, agent, models.model);
      if (engine.describe === undefined) return undefined;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      const asked = {
        plugin: options.engines.plugin?.(engine.id) ?? engine.id,
        doing: `describe of the engine ${engine.id}`,
      };
      const providers = options.providers(modelsOf(models));
      const by = {
        ...usableModels(models, providers).models,
        providers: providers.usable,
        spending: options.spending.meter({ ...asker, purpose: "describe" }).spending,
      };
      const answer: unknown = await callPlugin(
        asked,
        pluginDeadlines.describe,
        () => engine.describe?.(image, by, limit),
        { signal },
      );
      if (answer !== undefined && typeof answer !== "string") throw unusable(asked, kindOf(answer));
      const description = answer?.replace(/\s+/g, " ").trim();
      return description === undefined || description === ""
        ? undefined
        : [...description].slice(0, maxCharacters).join("");
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      options.log.warn({ agent: asker.agentId, reason: reasonOf(thrown) }, "an image could not be described");
      return undefined;
    }
  };
}
