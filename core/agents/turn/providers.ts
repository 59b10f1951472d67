/** Resolves the secrets of the model providers for engines. A provider with an unresolvable secret is left out, with a warning. */
import type { GatewayConfig, Secrets } from "../../config/index.ts";
import { reasonOf } from "../../contract/index.ts";
import type { EngineProvider } from "../../sdk/contract.ts";

export function resolveProviders(
  config: GatewayConfig,
  secrets: Secrets,
  onProblem: (path: string, reason: string) => void,
): Readonly<Record<string, EngineProvider>> {
  const resolved: Record<string, EngineProvider> = {};
  for (const [id, provider] of Object.entries(config.models.providers)) {
    const path = `models.providers.${id}`;
    try {
      const { api, baseUrl, apiKey, headers } = provider;
      resolved[id] = {
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
      onProblem(path, reasonOf(error));
    }
  }
  return resolved;
}
