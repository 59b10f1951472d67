/** Resolves the secrets of the model providers for engines. */
import type { GatewayConfig, Secrets } from "../../config/index.ts";
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

type KnownModels = NonNullable<GatewayConfig["models"]["providers"][string]["models"]>;

/** Both forms of the setting, as engines read it. */
function knownModels(models: KnownModels): NonNullable<EngineProvider["models"]> {
  if (!Array.isArray(models)) return models as NonNullable<EngineProvider["models"]>;
  const listed = models.map(
    ({
      id,
      contextWindow,
      contextTokens = contextWindow,
      input,
      images = input?.includes("image"),
      tools,
      cacheMarks,
    }) => [
      id,
      {
        contextTokens,
        images,
        tools,
        cacheMarks,
      },
    ],
  );
  return Object.fromEntries(listed) as NonNullable<EngineProvider["models"]>;
}

export function resolveProviders(
  config: GatewayConfig,
  secrets: Secrets,
  onProblem: (path: string, reason: string) => void,
): Providers {
  const usable: Record<string, EngineProvider> = {};
  const unusable = new Map<string, unknown>();
  for (const [id, provider] of Object.entries(config.models.providers)) {
    const path = `models.providers.${id}`;
    try {
      const { api, baseUrl, apiKey, headers, models } = provider;
      usable[id] = {
        api,
        baseUrl,
        ...(models === undefined ? {} : { models: knownModels(models) }),
        ...(apiKey === undefined ? {} : { apiKey: secrets.resolve(apiKey, `${path}.apiKey`) }),
        ...(headers === undefined
          ? {}
          : {
              headers: Object.fromEntries(
                Object.entries(headers).map(([name, value]) => [
                  name,
                  secrets.resolve(value, `${path}.headers.${name}`),
                ]),
              ),
            }),
      };
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
  const reasonFor = (name: string) => unusable.get(name.slice(0, name.indexOf("/")));
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
  const cause = providers.unusable.get(model.slice(0, model.indexOf("/")));
  throw new EngineError("model_provider_invalid", {
    detail: reasonOf(cause).replace(/\.$/, ""),
    ...(cause instanceof HostError ? { hint: cause.hint } : {}),
    cause,
  });
}
