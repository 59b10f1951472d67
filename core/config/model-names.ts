/** Names of models: aliases, and the list of those that may be asked for. One rule for chats, webhooks and the file itself. */

export type ModelChoice = string | { readonly primary?: string; readonly fallbacks?: readonly string[] };

/** Allowed models: a list of `provider/model`, or a map from it to an alias. */
export type ModelTable = readonly string[] | { readonly [model: string]: { readonly alias?: string } };

/** Whether a text has the form `provider/model`. */
export const isFullModelName = (name: string): boolean => /^[^/\s]+\/\S+$/.test(name);

/**
 * `provider/model` of an alias or of a full name; `undefined` when the name is neither, or is not allowed. Without a table every
 * full name is allowed; an empty table allows none.
 */
export function resolveModel(name: string, table: ModelTable | undefined): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (table === undefined) return isFullModelName(name.trim()) ? name.trim() : undefined;
  const found = modelNames(table).find((model) => aliasOf(model, table)?.toLowerCase() === wanted || model.toLowerCase() === wanted);
  return found !== undefined && isFullModelName(found) ? found : undefined;
}

/** Every model of the table, as it is written there; none where there is no table. */
export function modelNames(table: ModelTable | undefined): readonly string[] {
  if (table === undefined) return [];
  return Array.isArray(table) ? table : Object.keys(table);
}

export function aliasOf(model: string, table: ModelTable | undefined): string | undefined {
  if (table === undefined || Array.isArray(table)) return undefined;
  return (table as { readonly [name: string]: { readonly alias?: string } })[model]?.alias;
}
