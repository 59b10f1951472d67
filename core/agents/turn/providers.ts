/** Resolves the secrets of the model providers for engines. */
import {
  commonApi,
  type GatewayConfig,
  type ProviderSettings,
  providerKey,
  providerOf,
  providerSettings,
  type Secrets,
} from "../../config/index.ts";
import { EngineError, HostError, reasonOf, type SkippedModel } from "../../contract/index.ts";
import type { EngineProvider } from "../../sdk/contract.ts";
import type { Models } from "./models.ts";

export interface Providers {
  readonly usable: Readonly<Record<string, EngineProvider>>;
  /** Why each of the others cannot be used, such as a secret that cannot be read; by id. */
  readonly unusable: ReadonlyMap<string, unknown>;
}

export interface UsableModels {
  readonly models: Models;
  /** Those whose provider cannot be used. */
  readonly skipped: readonly SkippedModel[];
}

/** Resolves what the models of a turn need. */
export type ResolveProviders = (models: readonly string[]) => Providers;

type KnownModels = NonNullable<ProviderSettings["models"]>;

/** Both forms of the setting, as engines read it. */
export function knownModels(models: KnownModels): NonNullable<EngineProvider["models"]> {
  if (!Array.isArray(models)) return models as NonNullable<EngineProvider["models"]>;
  const listed = models.map(
    ({
      id,
      contextWindow,
      contextTokens = contextWindow,
      input,
      images = input?.includes("image"),
      // Many lists do not mention it.
      audio = input?.includes("audio") === true ? true : undefined,
      tools,
      cacheMarks,
    }) => [
      id,
      {
        contextTokens,
        images,
        audio,
        tools,
        cacheMarks,
      },
    ],
  );
  return Object.fromEntries(listed) as NonNullable<EngineProvider["models"]>;
}

/** As an engine is handed it. The vendors' own addresses belong to the protocol, which the engine knows. */
function resolved(id: string, settings: ProviderSettings, secrets: Secrets): EngineProvider {
  const { api, protocol, baseUrl, address, headers, models, keyVariable } = settings;
  const apiKey = providerKey(id, settings, secrets);
  const read = ([name, value]: readonly [string, unknown]) =>
    [name, secrets.resolve(value, `models.providers.${id}.headers.${name}`)] as const;
  return {
    api,
    baseUrl: api === commonApi ? address : baseUrl,
    ...(protocol !== undefined && { protocol }),
    ...(models !== undefined && { models: knownModels(models) }),
    ...(apiKey !== undefined && { apiKey }),
    ...(settings.apiKey === undefined && keyVariable !== undefined && { keyVariable }),
    ...(headers !== undefined && { headers: Object.fromEntries(Object.entries(headers).map(read)) }),
  };
}

/** The configured providers, and those of the models that are known by name. No key of another one is read. */
export function resolveProviders(
  config: GatewayConfig,
  { secrets, models }: { readonly secrets: Secrets; readonly models: readonly string[] },
  onProblem: (path: string, reason: string) => void,
): Providers {
  const usable: Record<string, EngineProvider> = {};
  const unusable = new Map<string, unknown>();
  for (const id of new Set([...Object.keys(config.models.providers), ...models.map(providerOf)])) {
    const path = `models.providers.${id}`;
    try {
      const settings = providerSettings(config, id);
      if (settings !== undefined) usable[id] = resolved(id, settings, secrets);
    } catch (error) {
      unusable.set(id, error);
      onProblem(path, reasonOf(error));
    }
  }
  return { usable, unusable };
}

/** Splits models by whether the settings of their providers can be read. */
export function readableModels(
  names: readonly string[],
  { unusable }: Pick<Providers, "unusable">,
): { readonly readable: readonly string[]; readonly skipped: readonly SkippedModel[] } {
  const reasonFor = (name: string) => unusable.get(providerOf(name));
  const skipped = names.flatMap((model): readonly SkippedModel[] => {
    const cause = reasonFor(model);
    return cause === undefined ? [] : [{ model, reason: "model_provider_invalid", detail: reasonOf(cause) }];
  });
  return { readable: names.filter((name) => reasonFor(name) === undefined), skipped };
}

/** The models without those of unusable providers. Throws if none is left, with the reason of the first one. */
export function usableModels({ model, fallbacks }: Models, providers: Pick<Providers, "unusable">): UsableModels {
  if (model === undefined) return { models: { fallbacks }, skipped: [] };
  const { readable, skipped } = readableModels([model, ...fallbacks], providers);
  const [first, ...others] = readable;
  if (first !== undefined) return { models: { model: first, fallbacks: others }, skipped };
  const cause = providers.unusable.get(providerOf(model));
  throw new EngineError("model_provider_invalid", {
    detail: reasonOf(cause).replace(/\.$/, ""),
    ...(cause instanceof HostError ? { hint: cause.hint } : {}),
    cause,
  });
}
