/** Resolves the secrets of the model providers for engines. */
import type { GatewayConfig, Secrets } from "../../config/index.ts";
import { EngineError, HostError, reasonOf } from "../../contract/index.ts";
import type { EngineProvider } from "../../sdk/contract.ts";
import type { Models } from "./models.ts";

export interface Providers {
  readonly usable: Readonly<Record<string, EngineProvider>>;
  /** Why each of the others cannot be used, such as a secret that cannot be read; by id. */
  readonly unusable: ReadonlyMap<string, unknown>;
}

export function resolveProviders(config: GatewayConfig, secrets: Secrets, onProblem: (path: string, reason: string) => void): Providers {
  const usable: Record<string, EngineProvider> = {};
  const unusable = new Map<string, unknown>();
  for (const [id, provider] of Object.entries(config.models.providers)) {
    const path = `models.providers.${id}`;
    try {
      const { api, baseUrl, apiKey, headers } = provider;
      usable[id] = {
        api,
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(apiKey === undefined ? {} : { apiKey: secrets.resolve(apiKey, `${path}.apiKey`) }),
        ...(headers === undefined
          ? {}
          : {
              headers: Object.fromEntries(
                Object.entries(headers).map(([name, value]) => [name, secrets.resolve(value, `${path}.headers.${name}`)]),
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

/** The models without those of unusable providers. Throws if none is left, with the reason of the first one. */
export function usableModels({ model, fallbacks }: Models, { unusable }: Pick<Providers, "unusable">): Models {
  if (model === undefined) return { fallbacks };
  const reasonFor = (name: string) => unusable.get(name.slice(0, name.indexOf("/")));
  const [first, ...others] = [model, ...fallbacks].filter((name) => reasonFor(name) === undefined);
  if (first !== undefined) return { model: first, fallbacks: others };
  const cause = reasonFor(model);
  throw new EngineError("model_provider_invalid", {
    detail: reasonOf(cause).replace(/\.$/, ""),
    ...(cause instanceof HostError ? { hint: cause.hint } : {}),
    cause,
  });
}
