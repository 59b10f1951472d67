/** Names of models: aliases, the list of what is allowed, the order in which they are tried. */
import { HostError } from "../errors.ts";
import type { AgentSettings, ModelChoice, ModelTable } from "./settings.ts";

/** `provider/model` of an alias or of a full name; `undefined` when it is neither or not allowed. */
export function resolveModel(name: string, table: ModelTable | undefined): string | undefined {
  const wanted = name.trim();
  if (table !== undefined && !Array.isArray(table)) {
    for (const [model, { alias }] of Object.entries(table)) {
      if (alias !== undefined && alias.toLowerCase() === wanted.toLowerCase()) return model;
    }
  }
  const allowed = modelNames(table);
  if (allowed.length > 0) return allowed.find((model) => model.toLowerCase() === wanted.toLowerCase());
  return /^[^/\s]+\/\S+$/.test(wanted) ? wanted : undefined;
}

/** Every model of the table, as `provider/model`; empty when none is listed, which allows all. */
export function modelNames(table: ModelTable | undefined): readonly string[] {
  if (table === undefined) return [];
  return Array.isArray(table) ? table : Object.keys(table);
}

export function aliasOf(model: string, table: ModelTable | undefined): string | undefined {
  if (table === undefined || Array.isArray(table)) return undefined;
  return (table as { readonly [name: string]: { readonly alias?: string } })[model]?.alias;
}

function choice(model: ModelChoice | undefined): { readonly primary?: string; readonly fallbacks: readonly string[] } {
  if (model === undefined) return { fallbacks: [] };
  if (typeof model === "string") return { primary: model, fallbacks: [] };
  return { ...(model.primary === undefined ? {} : { primary: model.primary }), fallbacks: model.fallbacks ?? [] };
}

/** The operator's own choices need not stand in the list of allowed models: it bounds what others may ask for. */
function resolveOwn(name: string, table: ModelTable | undefined): string {
  const model = resolveModel(name, table) ?? resolveModel(name, undefined);
  if (model === undefined) throw new HostError("model_unknown", { model: name });
  return model;
}

/**
 * The model of a turn and those after it. `asked` comes from a request or a session: it was checked when it was
 * taken in, and is checked again here, because the list may have changed since.
 */
export function chooseModels(
  agent: AgentSettings,
  asked: string | undefined,
): { readonly model?: string; readonly fallbacks: readonly string[] } {
  const table = agent.models;
  const own = choice(agent.model);
  const fallbacks = own.fallbacks.map((name) => resolveOwn(name, table));
  const primary = own.primary === undefined ? undefined : resolveOwn(own.primary, table);
  let model = primary;
  if (asked !== undefined) {
    model = asked === own.primary ? primary : resolveModel(asked, table);
    if (model === undefined) throw new HostError("model_unknown", { model: asked });
  }
  return { ...(model === undefined ? {} : { model }), fallbacks: fallbacks.filter((name) => name !== model) };
}
