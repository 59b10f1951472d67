/**
 * Finds the configuration file and the state directory: by flag, environment variable, configuration or default, in
 * this order.
 */
import { join, resolve } from "node:path";
import { product } from "../../contract/index.ts";
import { expandPath } from "../expand-path.ts";
import type { GatewayConfig } from "../schema.ts";
import type { Environment } from "../secrets.ts";

export interface ConfigLocation {
  readonly file: string;
  /** True if the file was named explicitly and must therefore exist. */
  readonly named: boolean;
}

/** The configuration file: `--config` ?? `SERVICE_CONFIG` ?? `~/.service/config.jsonc`. */
export function locateConfig(from: {
  readonly flag?: string | undefined;
  readonly env: Environment;
  readonly home: string;
}): ConfigLocation {
  const named = from.flag || from.env[`${product.environmentPrefix}CONFIG`];
  if (named) return { file: resolve(named), named: true };
  return { file: join(from.home, product.homeDirectory, product.configFile), named: false };
}

/** The directory in `SERVICE_STATE_DIR`, which is known without a configuration. */
export function namedState(env: Environment): string | undefined {
  const named = env[`${product.environmentPrefix}STATE_DIR`];
  return named ? resolve(named) : undefined;
}

/** The state directory: `SERVICE_STATE_DIR` ?? `state.dir` ?? `~/.service`. */
export function locateState(from: {
  readonly config: { readonly state: Pick<GatewayConfig["state"], "dir"> };
  readonly directory: string;
  readonly env: Environment;
  readonly home: string;
}): string {
  const named = namedState(from.env);
  if (named !== undefined) return named;
  const { dir } = from.config.state;
  return dir === undefined ? join(from.home, product.homeDirectory) : expandPath(dir, from.directory, from.home);
}
