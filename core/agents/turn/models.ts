/** Chooses the models of a turn, in the order in which they are tried. */

import { type AgentSettings, type ModelChoice, type ModelTable, resolveModel } from "../../config/index.ts";
import { HostError } from "../../contract/index.ts";

function choice(model: ModelChoice | undefined): { readonly primary?: string; readonly fallbacks: readonly string[] } {
  if (model === undefined) return { fallbacks: [] };
  if (typeof model === "string") return { primary: model, fallbacks: [] };
  return { primary: model.primary, fallbacks: model.fallbacks ?? [] };
}

/** Models set by the operator need not be in the list of allowed models. The list limits what users may request. */
function resolveOwn(name: string, table: ModelTable | undefined): string {
  const model = resolveModel(name, table) ?? resolveModel(name, undefined);
  if (model === undefined) throw new HostError("model_unknown", { model: name });
  return model;
}

export interface Models {
  readonly model?: string;
  readonly fallbacks: readonly string[];
}

/** In the order in which they are tried. */
export const modelsOf = ({ model, fallbacks }: Models): readonly string[] =>
  model === undefined ? fallbacks : [model, ...fallbacks];

/**
 * The model of a turn and its fallbacks. `asked` comes from a request or a session. It was checked when it was
 * accepted, and is checked again here because the list may have changed.
 */
export function chooseModels(agent: AgentSettings, asked: string | undefined): Models {
  const table = agent.models;
  const own = choice(agent.model);
  const fallbacks = own.fallbacks.map((name) => resolveOwn(name, table));
  const primary = own.primary === undefined ? undefined : resolveOwn(own.primary, table);
  let model = primary;
  if (asked !== undefined) {
    model = resolveModel(asked, table);
    if (model === undefined) throw new HostError("model_unknown", { model: asked });
  }
  return { model, fallbacks: fallbacks.filter((name) => name !== model) };
}
