/**
 * Which providers the configuration uses. Others are known by their names, and their keys may be in the environment for
 * another program: who writes in a chat or sends a webhook must not choose them.
 */
import { knownProvider } from "./known-providers.ts";
import { type ModelTable, resolveModel } from "./model-names.ts";
import { providerOf } from "./model-providers.ts";

/** Whether a text or a key anywhere in the configuration names a model of the provider. */
function names(value: unknown, beginning: string): boolean {
  if (typeof value === "string") return value.startsWith(beginning);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => key.startsWith(beginning) || names(inner, beginning));
}

export function usesProvider(
  config: { readonly models?: { readonly providers?: Readonly<Record<string, unknown>> } },
  id: string,
): boolean {
  return Object.hasOwn(config.models?.providers ?? {}, id) || names(config, `${id}/`);
}

/**
 * Resolves what a chat or a request has asked for; `undefined` if it is not allowed. Without a table, every full name
 * is allowed whose provider is used, or is unknown and thus has neither an address nor a key.
 */
export function resolveAskedModel(
  name: string,
  table: ModelTable | undefined,
  config: Parameters<typeof usesProvider>[0],
): string | undefined {
  const model = resolveModel(name, table);
  if (model === undefined || table !== undefined) return model;
  const provider = providerOf(model);
  return knownProvider(provider) === undefined || usesProvider(config, provider) ? model : undefined;
}
