/** One instance of a plugin, from its `setup` to its close. A plugin that is replaced has two for a while. */
import { type GatewayConfig, validateSection } from "../config/index.ts";
import { PluginError, reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { PluginDefinition, TObject } from "../sdk/contract.ts";
import type { PluginTap } from "../stations/index.ts";
import { callPlugin, pluginDeadlines, withDeadline } from "./deadline.ts";
import { addUnique, createOwnRegistry, type OwnRegistry } from "./registry.ts";
import { createScope, type ScopeOptions } from "./scope.ts";

export interface Instance {
  readonly definition: PluginDefinition;
  readonly own: OwnRegistry;
  readonly taps: readonly PluginTap[];
  /** Calls `onReady`; a failure is logged. */
  ready(): Promise<void>;
  /** Calls `onClose`, last in, first out, then aborts its signal. Idempotent. */
  close(): Promise<void>;
}

export interface InstanceOptions extends Omit<ScopeOptions, "registry" | "signal" | "log"> {
  readonly log: Log;
  readonly config: () => GatewayConfig;
  /** Milliseconds that a plugin has for its `setup`. */
  readonly setupMs?: number;
}

/** An instance before its `setup`: `setUp` throws what goes wrong, and may leave something to be closed. */
export function createInstance(
  definition: PluginDefinition,
  options: InstanceOptions,
): Instance & { setUp(): Promise<void> } {
  const { id } = definition;
  const { log, setupMs } = options;
  const own = createOwnRegistry();
  const stop = new AbortController();
  const scope = createScope(definition, { ...options, registry: own, signal: stop.signal });

  async function run(doing: string, ms: number, fn: () => void | Promise<void>): Promise<void> {
    try {
      await callPlugin({ plugin: id, doing }, ms, fn);
    } catch (error) {
      log.error({ plugin: id }, reasonOf(error));
    }
  }

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    for (const fn of [...own.close].reverse()) await run("onClose", pluginDeadlines.onClose, fn);
    stop.abort();
  }

  return {
    definition,
    own,
    taps: scope.taps,
    async setUp() {
      const values = optionsOf(definition, options);
      for (const preset of definition.presets ?? []) addUnique(own.presets, "preset", id, preset);
      await runSetup(definition, { scope, values, setupMs });
    },
    async ready() {
      for (const fn of own.ready) await run("onReady", setupMs ?? pluginDeadlines.onReady, fn);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** The options of its section, with defaults. Throws `PluginError` `plugin_options`. */
function optionsOf(
  { id, options: schema }: PluginDefinition,
  { config, log }: Pick<InstanceOptions, "config" | "log">,
): unknown {
  if (schema === undefined) return {};
  const path = `plugins.entries.${id}.options`;
  const checked = validateSection(schema satisfies TObject, config().plugins.entries[id]?.options ?? {}, path);
  const wrong = checked.problems.find((problem) => problem.severity === "error");
  if (wrong !== undefined)
    throw new PluginError("plugin_options", { plugin: id, path: wrong.path.slice(path.length), reason: wrong.message });
  for (const problem of checked.problems) log.warn({ plugin: id, path: problem.path }, problem.message);
  return checked.value;
}

async function runSetup(
  { id, setup }: PluginDefinition,
  {
    scope,
    values,
    setupMs = pluginDeadlines.setup,
  }: { readonly scope: ReturnType<typeof createScope>; readonly values: unknown; readonly setupMs?: number },
): Promise<void> {
  try {
    const running = Promise.resolve(setup(scope.host, values as never));
    await withDeadline(
      running,
      setupMs,
      () => new PluginError("plugin_setup_timeout", { plugin: id, seconds: setupMs / 1_000 }),
    );
  } catch (error) {
    if (error instanceof PluginError) throw error;
    throw new PluginError("plugin_setup_failed", { plugin: id, reason: reasonOf(error) }, { cause: error });
  } finally {
    scope.close();
  }
}
