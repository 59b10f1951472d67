/** The plugins that a gateway may bring up: found, loaded and checked. What is switched off is not loaded. */
import type { GatewayConfig } from "../config/index.ts";
import { PluginError } from "../contract/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import { checkPresets } from "./declaration/presets.ts";
import { sectionsOf } from "./declaration/schemas.ts";
import { checkSections } from "./declaration/sections.ts";
import { checkDeclaration } from "./declare.ts";
import { bundledPlugins, bundledStores, namedPlugin, type PluginSource, placeOf } from "./find.ts";
import { storeOf } from "./find-store.ts";
import type { Isolate, IsolatedPlugin, WorkerReport } from "./isolated.ts";
import type { Loader } from "./load.ts";
import { readOutline } from "./outline.ts";

export interface PluginReport {
  readonly id: string;
  readonly version?: string;
  readonly bundled: boolean;
  readonly state: "up" | "off" | "failed";
  /** Why it is off or failed. */
  readonly reason?: string;
  readonly hint?: string;
  /** The channel that it brings. */
  readonly channel?: string;
  /** Absent: inline, in the thread of the gateway. */
  readonly isolation?: "worker";
  /** Sections that it declares and never asks for, so that they have no effect: a key, or `hooks.<preset>`. */
  readonly unread?: readonly string[];
  /** Set while a plugin in a worker is up. */
  readonly worker?: WorkerReport;
}

export interface Candidate {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  /** Set if it runs in a worker. */
  readonly isolated?: IsolatedPlugin;
}

export interface CollectOptions {
  readonly config: () => GatewayConfig;
  readonly configDirectory: string;
  readonly disabled: ReadonlySet<string>;
  readonly loader: Loader;
  /** Loads a plugin in a worker; called only for plugins that the configuration isolates, or may. */
  readonly isolate?: Isolate;
  /** Plugins passed in by an embedder or a test, beside those that are found. */
  readonly given?: readonly PluginDefinition[];
  /** Paths of plugins beside those that `plugins.load` names. */
  readonly load?: readonly string[];
  readonly bundled: boolean;
}

export interface Collected {
  readonly candidates: readonly Candidate[];
  /** The sections of plugins that are switched off: their paths, and the plugin of each. */
  readonly off: ReadonlyMap<string, string>;
}

export type Failed = (name: string, bundled: boolean, error: unknown) => void;

const isSwitchedOff = (config: GatewayConfig, { name, bundled }: PluginSource) =>
  bundled && config.plugins.entries[name]?.enabled === false;

/**
 * Begins to load what comes with the package, while a gateway waits for something else. A failure is reported when the
 * plugin is loaded.
 */
export function loadBundledAhead(config: GatewayConfig, loader: Loader): void {
  for (const source of bundledPlugins())
    if (!isSwitchedOff(config, source) && !isIsolated(config, source.name)) void loader.load(source).catch(() => {});
}

const isIsolated = (config: GatewayConfig, id: string): boolean => config.plugins.entries[id]?.isolation === "worker";

/**
 * Loads a plugin where the configuration wants it. The name of a plugin that is not bundled is not its id, so while any
 * plugin is isolated each of them is loaded in a worker first: one that fails while it loads fails there.
 */
export async function loadPlugin(
  source: PluginSource,
  { config, loader, isolate }: Pick<CollectOptions, "config" | "loader" | "isolate">,
  how: Parameters<Loader["load"]>[1] = {},
): Promise<Omit<Candidate, "source">> {
  const entries = config().plugins.entries;
  const mayBeIsolated = source.bundled
    ? isIsolated(config(), source.name)
    : Object.keys(entries).some((id) => isIsolated(config(), id));
  const isolated = mayBeIsolated ? await isolate?.(source, (id) => isIsolated(config(), id)) : undefined;
  if (isolated !== undefined) return { definition: await checkIsolated(isolated), isolated };
  return { definition: checkDeclaration(source.name, await loader.load(source, how)) };
}

/** The thread has checked the rest. */
async function checkIsolated({ definition, close }: IsolatedPlugin): Promise<PluginDefinition> {
  try {
    checkPresets(definition);
    checkSections(definition);
    return definition;
  } catch (error) {
    await close();
    throw error;
  }
}

export async function collect(
  options: CollectOptions,
  reports: Map<string, PluginReport>,
  failed: Failed,
): Promise<Collected> {
  const { disabled } = options;
  const config = options.config();
  const candidates: Candidate[] = [];
  const unread = new Map<string, string>();
  const leave = (id: string, paths: readonly string[]) => {
    for (const path of paths) unread.set(path, id);
  };
  const enabled = (id: string) => config.plugins.entries[id]?.enabled;
  const add = (source: PluginSource, loaded: Omit<Candidate, "source">): boolean => {
    const { id, version } = loaded.definition;
    const wanted = enabled(id) ?? loaded.definition.optIn !== true;
    const off = (reason: string) => {
      leave(id, sectionsOf(loaded.definition));
      reports.set(id, { id, version, bundled: source.bundled, state: "off", reason });
      return false;
    };
    if (!wanted) return off(`plugins.entries.${id}.enabled is ${enabled(id) === false ? "false" : "not set"}`);
    if (disabled.has(`plugins.entries.${id}`)) return off(`plugins.entries.${id} has an error`);
    const first = candidates.find((candidate) => candidate.definition.id === id);
    if (first !== undefined)
      throw new PluginError("plugin_duplicate", { plugin: id, first: placeOf(first.source), second: placeOf(source) });
    for (const section of sectionsOf(loaded.definition)) {
      const other = candidates.find(({ definition }) => sectionsOf(definition).includes(section));
      if (other === undefined) continue;
      const reason = `the section ${section} is already declared by ${other.definition.id}`;
      throw new PluginError("plugin_invalid", { plugin: id, reason, field: "section" });
    }
    candidates.push({ source, ...loaded });
    return true;
  };
  for (const definition of options.given ?? []) {
    try {
      const { id } = checkDeclaration(definition.id, definition);
      if (isIsolated(config, id))
        throw new PluginError("plugin_isolation", {
          plugin: id,
          reason: "the embedding program passes it in, and a worker loads plugins from files",
        });
      add({ name: id, file: "", bundled: false }, { definition });
    } catch (error) {
      failed(definition.id, false, error);
    }
  }
  for (const source of sources(options, failed)) {
    if (isSwitchedOff(config, source)) {
      leave(source.name, readOutline(source.file)?.configuration ?? []);
      reports.set(source.name, {
        id: source.name,
        bundled: true,
        state: "off",
        reason: `plugins.entries.${source.name}.enabled is false`,
      });
      continue;
    }
    let loaded: Omit<Candidate, "source"> | undefined;
    let isAdded = false;
    try {
      loaded = await loadPlugin(source, options);
      isAdded = add(source, loaded);
    } catch (error) {
      failed(source.name, source.bundled, error);
    }
    if (!isAdded) await loaded?.isolated?.close();
  }
  return { candidates, off: unread };
}

/** The bundled store that is in use. Its code is already loaded. */
export const usedStore = ({ state, plugins }: Pick<GatewayConfig, "state" | "plugins">): readonly PluginSource[] =>
  plugins.load.some((name) => storeOf(name) === state.store)
    ? []
    : bundledStores().filter(({ name }) => storeOf(name) === state.store);

function sources(
  { config, configDirectory, load = [], bundled }: CollectOptions,
  failed: Failed,
): readonly PluginSource[] {
  const found: PluginSource[] = bundled ? [...bundledPlugins(), ...usedStore(config())] : [];
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
