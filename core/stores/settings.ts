/** The place of the state in a checked configuration. */
import type { GatewayConfig, LoadedConfig, Secrets } from "../config/index.ts";
import { HostError } from "../contract/index.ts";
import { isEmbedded, type StatePlace } from "./place.ts";

const needed: readonly string[] = ["state.store", "state.url"];

/**
 * Throws `config_invalid` for an error in these settings, because with a default in their place, a gateway would use
 * another database. Throws `secret_unavailable` if this process cannot read the address.
 */
export function checkStateSettings(
  { problems, config }: Pick<LoadedConfig, "problems" | "config">,
  secrets: Secrets,
): void {
  const wrong = problems.find(({ severity, path }) => severity === "error" && needed.includes(path));
  if (wrong !== undefined)
    throw new HostError("config_invalid", {
      path: wrong.path,
      reason: wrong.message,
      fix: wrong.hint ?? "Correct the value.",
    });
  if (!isEmbedded(config.state)) secrets.resolve(config.state.url, "state.url");
}

export function statePlace(config: Pick<GatewayConfig, "state" | "gateway">, directory: string): StatePlace {
  const { store, url } = config.state;
  const { node } = config.gateway;
  return { directory, store, url, node };
}
