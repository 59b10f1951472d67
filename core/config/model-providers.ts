/** The settings of a model provider: what the configuration says, completed by what is known of its name. */
import { HostError } from "../contract/index.ts";
import { commonApi, type KnownProvider, knownProvider } from "./known-providers.ts";
import type { GatewayConfig } from "./schema.ts";
import type { Secrets } from "./secrets.ts";

type Configured = GatewayConfig["models"]["providers"][string];

export interface ProviderSettings extends Omit<Configured, "api"> {
  readonly api: KnownProvider["api"];
  /** Where it is reached; `undefined` if neither the configuration nor its name says that. */
  readonly address: string | undefined;
  /** Variable of the key if `apiKey` is not set. */
  readonly keyVariable: string | undefined;
  /** It answers no request without a key. */
  readonly needsKey: boolean;
}

/** The provider of `provider/model`. */
export const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf("/")));

/**
 * `undefined` if the provider is neither configured nor known. With `api` and `baseUrl` the operator describes a server
 * of their own, whatever its name is, so that it is not sent the key of another one.
 */
export function providerSettings(
  config: { readonly models?: { readonly providers?: Readonly<Record<string, unknown>> } },
  id: string,
): ProviderSettings | undefined {
  const providers = config.models?.providers ?? {};
  const own = (Object.hasOwn(providers, id) ? providers[id] : undefined) as Configured | undefined;
  const named = knownProvider(id);
  if (own === undefined && named === undefined) return undefined;
  const { api = named?.api ?? commonApi, baseUrl, headers } = own ?? {};
  const isOther = named === undefined || api !== named.api || (own?.api !== undefined && baseUrl !== undefined);
  const known = isOther ? undefined : named;
  return {
    ...own,
    api,
    // The protocols of vendors have their names.
    address: baseUrl ?? known?.address ?? knownProvider(api)?.address,
    keyVariable: known?.keyVariable,
    // A server at another address may need none, and a header may carry it.
    needsKey: known?.keyVariable !== undefined && baseUrl === undefined && headers === undefined,
  };
}

/** The key of a provider; `undefined` if it needs none. Throws `HostError` if it is missing or cannot be read. */
export function providerKey(
  id: string,
  { apiKey, keyVariable, needsKey }: Pick<ProviderSettings, "apiKey" | "keyVariable" | "needsKey">,
  secrets: Pick<Secrets, "resolve">,
): string | undefined {
  const path = `models.providers.${id}.apiKey`;
  if (apiKey !== undefined) return secrets.resolve(apiKey, path);
  if (keyVariable === undefined) return undefined;
  try {
    return secrets.resolve({ env: keyVariable }, path);
  } catch (cause) {
    if (!needsKey) return undefined;
    throw new HostError("model_key_missing", { provider: id, variable: keyVariable, path }, { cause });
  }
}
