/** The plugins that a gateway may bring up: found, loaded and checked. What is switched off is not loaded. */
import type { GatewayConfig } from "../config/index.ts";
import { PluginError } from "../contract/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import { checkDeclaration } from "./declare.ts";
import { bundledPlugins, namedPlugin, type PluginSource, placeOf } from "./find.ts";
import type { Loader } from "./load.ts";

export interface PluginReport {
  readonly id: string;
  readonly version?: string;
  readonly bundled: boolean;
  readonly state: "up" | "off" | "failed";
  /** Why it is off or failed. */
  readonly reason?: string;
  readonly hint?: string;
}

export interface Candidate {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
}

export interface CollectOptions {
  readonly config: () => GatewayConfig;
  readonly configDirectory: string;
  readonly disabled: ReadonlySet<string>;
  readonly loader: Loader;
  /** Plugins handed in by an embedder or a test, beside those that are found. */
  readonly given?: readonly PluginDefinition[];
  /** Paths of plugins beside those that `plugins.load` names. */
  readonly load?: readonly string[];
  readonly bundled: boolean;
}

export type Failed = (name: string, bundled: boolean, error: unknown) => void;

const isSwitchedOff = (config: GatewayConfig, { name, bundled }: PluginSource) =>
  bundled && config.plugins.entries[name]?.enabled === false;

/**
 * Begins to load what comes with the package, while a gateway waits for something else. A failure is reported when the plugin is loaded.
 */
export function loadBundledAhead(config: GatewayConfig, loader: Loader): void {
  for (const source of bundledPlugins()) if (!isSwitchedOff(config, source)) void loader.load(source).catch(() => {});
}

export async function collect(options: CollectOptions, reports: Map<string, PluginReport>, failed: Failed): Promise<readonly Candidate[]> {
  const { disabled } = options;
  const config = options.config();
  const candidates: Candidate[] = [];
  const enabled = (id: string) => config.plugins.entries[id]?.enabled;
  const add = (source: PluginSource, exported: unknown) => {
    const definition = checkDeclaration(source.name, exported);
    const { id, version } = definition;
    const wanted = enabled(id) ?? definition.optIn !== true;
    const off = (reason: string) => reports.set(id, { id, version, bundled: source.bundled, state: "off", reason });
    if (!wanted) return off(`plugins.entries.${id}.enabled is ${enabled(id) === false ? "false" : "not set"}`);
    if (disabled.has(`plugins.entries.${id}`)) return off(`plugins.entries.${id} has an error`);
    const first = candidates.find((candidate) => candidate.definition.id === id);
    if (first !== undefined)
      throw new PluginError("plugin_duplicate", { plugin: id, first: placeOf(first.source), second: placeOf(source) });
    candidates.push({ source, definition });
  };
  for (const definition of options.given ?? []) {
    try {
      add({ name: definition.id, file: "", bundled: false }, definition);
    } catch (error) {
      failed(definition.id, false, error);
    }
  }
  for (const source of sources(options, failed)) {
    if (isSwitchedOff(config, source)) {
      reports.set(source.name, { id: source.name, bundled: true, state: "off", reason: `plugins.entries.${source.name}.enabled is false` });
      continue;
    }
    try {
      add(source, await options.loader.load(source));
    } catch (error) {
      failed(source.name, source.bundled, error);
    }
  }
  return candidates;
}

function sources({ config, configDirectory, load = [], bundled }: CollectOptions, failed: Failed): readonly PluginSource[] {
  const found: PluginSource[] = bundled ? [...bundledPlugins()] : [];
  for (const name of [...config().plugins.load, ...load]) {
    try {
      const source = namedPlugin(name, configDirectory);
      // A plugin that is being written may be named by the configuration as well.
      if (!load.includes(name) || found.every(({ file }) => file !== source.file)) found.push(source);
    } catch (error) {
      failed(name, false, error);
    }
  }
  return found;
}
