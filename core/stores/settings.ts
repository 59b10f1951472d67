/** The place of the state in a checked configuration. */
import type { GatewayConfig, LoadedConfig } from "../config/index.ts";
import { HostError } from "../contract/index.ts";
import type { StatePlace } from "./place.ts";

const needed: readonly string[] = ["state.store", "state.url"];

/** Throws `config_invalid` for an error in these settings: with a default in their place, a gateway would use another database. */
export function checkStateSettings({ problems }: Pick<LoadedConfig, "problems">): void {
  const wrong = problems.find(({ severity, path }) => severity === "error" && needed.includes(path));
  if (wrong === undefined) return;
  throw new HostError("config_invalid", { path: wrong.path, reason: wrong.message, fix: wrong.hint ?? "Correct the value." });
}

export function statePlace(config: Pick<GatewayConfig, "state" | "gateway">, directory: string): StatePlace {
  const { store, url } = config.state;
  const { node } = config.gateway;
  return { directory, store, ...(url === undefined ? {} : { url }), ...(node === undefined ? {} : { node }) };
}
