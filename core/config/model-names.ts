/** Model names, their aliases and the list of allowed models. The same rules apply in chats, webhooks and the file. */

export type ModelChoice = string | { readonly primary?: string; readonly fallbacks?: readonly string[] };

/** The allowed models: a list of `provider/model`, or a map from such names to settings with an alias. */
export type ModelTable = readonly string[] | { readonly [model: string]: { readonly alias?: string } };

/** Whether a text has the form `provider/model`. */
export const isFullModelName = (name: string): boolean => /^[^/\s]+\/\S+$/.test(name);

/**
 * Resolves an alias or full name to `provider/model`; `undefined` if the name is unknown or not allowed. Without a
 * table every full name is allowed; an empty table allows none.
 */
export function resolveModel(name: string, table: ModelTable | undefined): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (table === undefined) return isFullModelName(name.trim()) ? name.trim() : undefined;
  const found = modelNames(table).find(
    (model) => aliasOf(model, table)?.toLowerCase() === wanted || model.toLowerCase() === wanted,
  );
  return found !== undefined && isFullModelName(found) ? found : undefined;
}

/** Every model in the table, as written there; empty without a table. */
export function modelNames(table: ModelTable | undefined): readonly string[] {
  if (table === undefined) return [];
  return Array.isArray(table) ? table : Object.keys(table);
}

export function aliasOf(model: string, table: ModelTable | undefined): string | undefined {
  if (table === undefined || Array.isArray(table)) return undefined;
  return (table as { readonly [name: string]: { readonly alias?: string } })[model]?.alias;
}

/** The word with which a conversation leaves the choice of its model to the agent. */
export const defaultWord = "default";

/** What a person types for a model: its alias, unless that means something else, or its full name. */
export function typedName(model: string, table: ModelTable | undefined): string {
  const alias = aliasOf(model, table);
  const isUsable = alias !== undefined && !/\s/.test(alias) && alias.toLowerCase() !== defaultWord;
  return isUsable && resolveModel(alias, table) === model ? alias : model;
}
