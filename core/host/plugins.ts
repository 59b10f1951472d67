/** Sets the plugins up one after the other, and closes them in reverse order. A plugin that fails is left out; the others run. */

import { type GatewayConfig, validateSection } from "../config/index.ts";
import { HostError, PluginError, reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { PluginDefinition, TObject } from "../sdk/contract.ts";
import { callPlugin, pluginDeadlines, withDeadline } from "./deadline.ts";
import { checkDeclaration, inRequiredOrder } from "./declare.ts";
import { bundledPlugins, namedPlugin, type PluginSource } from "./find.ts";
import type { Loader } from "./load.ts";
import { addUnique, removePlugin } from "./registry.ts";
import { createScope, type ScopeOptions } from "./scope.ts";

export interface PluginReport {
  readonly id: string;
  readonly version?: string;
  readonly bundled: boolean;
  readonly state: "up" | "off" | "failed";
  /** Why the plugin is off or has failed. */
  readonly reason?: string;
  readonly hint?: string;
}

export interface Plugins {
  reports(): readonly PluginReport[];
  /** Runs `onReady` of each plugin; a failure is logged. */
  ready(): Promise<void>;
  /** Runs `onClose` in reverse order; idempotent. */
  close(): Promise<void>;
}

interface Candidate {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
}

export interface PluginsOptions extends Omit<ScopeOptions, "log"> {
  readonly log: Log;
  readonly config: GatewayConfig;
  readonly configDirectory: string;
  readonly disabled: ReadonlySet<string>;
  readonly loader: Loader;
  /** Plugins passed in by an embedder or a test, in addition to those found on disk. */
  readonly given?: readonly PluginDefinition[];
  readonly bundled: boolean;
  /** Time limit for a plugin's `setup`, in milliseconds. */
  readonly setupMs?: number;
}

export async function createPlugins(options: PluginsOptions): Promise<Plugins> {
  const { log, registry } = options;
  const reports = new Map<string, PluginReport>();
  const failed = (name: string, bundled: boolean, error: unknown) => {
    const hint = error instanceof HostError ? error.hint : undefined;
    reports.set(name, { id: name, bundled, state: "failed", reason: reasonOf(error), ...(hint === undefined ? {} : { hint }) });
    log.error({ plugin: name, hint }, reasonOf(error));
  };

  const candidates = await collect(options, reports, failed);
  const { ordered, missing } = inRequiredOrder(candidates);
  for (const [candidate, required] of missing) {
    const { id } = candidate.definition;
    failed(id, candidate.source.bundled, new PluginError("plugin_requires", { plugin: id, required }));
  }
  for (const candidate of ordered) {
    const { id, version, requires = [] } = candidate.definition;
    registry.plugins.set(id, candidate.definition);
    try {
      const down = requires.find((other) => reports.get(other)?.state !== "up");
      if (down !== undefined) throw new PluginError("plugin_requires", { plugin: id, required: down });
      await setUp(candidate.definition, options);
      reports.set(id, { id, version, bundled: candidate.source.bundled, state: "up" });
    } catch (error) {
      removePlugin(registry, id);
      failed(id, candidate.source.bundled, error);
    }
  }

  let closing: Promise<void> | undefined;
  return {
    reports: () => [...reports.values()],
    async ready() {
      for (const { plugin, definition } of registry.ready) {
        try {
          await callPlugin({ plugin, doing: "onReady" }, options.setupMs ?? pluginDeadlines.onReady, definition);
        } catch (error) {
          log.error({ plugin }, reasonOf(error));
        }
      }
    },
    close() {
      closing ??= closeAll(options);
      return closing;
    },
  };
}

const isSwitchedOff = (config: GatewayConfig, { name, bundled }: PluginSource) =>
  bundled && config.plugins.entries[name]?.enabled === false;

/** Starts to load the bundled plugins while a gateway waits for something else. A failure is reported when the plugin is loaded. */
export function loadBundledAhead(config: GatewayConfig, loader: Loader): void {
  for (const source of bundledPlugins()) if (!isSwitchedOff(config, source)) void loader.load(source).catch(() => {});
}

/** Finds, loads and checks plugins. A disabled plugin is not loaded. */
async function collect(
  options: PluginsOptions,
  reports: Map<string, PluginReport>,
  failed: (name: string, bundled: boolean, error: unknown) => void,
): Promise<readonly Candidate[]> {
  const { config, disabled } = options;
  const candidates: Candidate[] = [];
  const enabled = (id: string) => config.plugins.entries[id]?.enabled;
  const add = (source: PluginSource, exported: unknown) => {
    const definition = checkDeclaration(source.name, exported);
    const { id, version } = definition;
    const wanted = enabled(id) ?? definition.optIn !== true;
    const off = (reason: string) => reports.set(id, { id, version, bundled: source.bundled, state: "off", reason });
    if (!wanted) return off(`plugins.entries.${id}.enabled is ${enabled(id) === false ? "false" : "not set"}`);
    if (disabled.has(`plugins.entries.${id}`)) return off(`plugins.entries.${id} has an error`);
    if (candidates.some((candidate) => candidate.definition.id === id)) throw new PluginError("plugin_duplicate", { plugin: id });
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

function sources(options: PluginsOptions, failed: (name: string, bundled: boolean, error: unknown) => void): readonly PluginSource[] {
  const found: PluginSource[] = options.bundled ? [...bundledPlugins()] : [];
  for (const name of options.config.plugins.load) {
    try {
      found.push(namedPlugin(name, options.configDirectory));
    } catch (error) {
      failed(name, false, error);
    }
  }
  return found;
}

async function setUp(definition: PluginDefinition, options: PluginsOptions): Promise<void> {
  const { id } = definition;
  const { setupMs = pluginDeadlines.setup } = options;
  const schema: TObject | undefined = definition.options;
  let values: unknown = {};
  if (schema !== undefined) {
    const path = `plugins.entries.${id}.options`;
    const checked = validateSection(schema, options.config.plugins.entries[id]?.options ?? {}, path);
    const wrong = checked.problems.find((problem) => problem.severity === "error");
    if (wrong !== undefined)
      throw new PluginError("plugin_options", { plugin: id, path: wrong.path.slice(path.length), reason: wrong.message });
    for (const problem of checked.problems) options.log.warn({ plugin: id, path: problem.path }, problem.message);
    values = checked.value;
  }
  for (const preset of definition.presets ?? []) addUnique(options.registry.presets, "preset", id, preset);
  const scope = createScope(id, options);
  try {
    const running = Promise.resolve(definition.setup(scope.host, values as never));
    await withDeadline(running, setupMs, () => new PluginError("plugin_setup_timeout", { plugin: id, seconds: setupMs / 1_000 }));
    scope.commit();
  } catch (error) {
    if (error instanceof PluginError) throw error;
    throw new PluginError("plugin_setup_failed", { plugin: id, reason: reasonOf(error) }, { cause: error });
  } finally {
    scope.close();
  }
}

async function closeAll({ registry, log }: PluginsOptions): Promise<void> {
  for (const { plugin, definition } of [...registry.close].reverse()) {
    try {
      await callPlugin({ plugin, doing: "onClose" }, pluginDeadlines.onClose, definition);
    } catch (error) {
      log.error({ plugin }, reasonOf(error));
    }
  }
}
