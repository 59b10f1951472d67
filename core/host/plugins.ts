/** Brings the plugins up, one after the other, and down again in reverse. What fails is left out; the rest runs. */
import { HostError, PluginError, reasonOf } from "../contract/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import type { Hooks } from "../stations/index.ts";
import { type Candidate, type CollectOptions, collect, type Failed, loadPlugin, type PluginReport } from "./collect.ts";
import { sectionsOf } from "./declaration/schemas.ts";
import { inRequiredOrder } from "./declare.ts";
import { namedPlugin, type PluginSource } from "./find.ts";
import { createInstance, type Instance, type InstanceOptions } from "./instance.ts";
import type { IsolatedPlugin } from "./isolated.ts";
import { checkUnique, enter, type Registry } from "./registry.ts";

/** A new instance of a plugin, set up beside the one that runs. */
export interface Replacement {
  readonly instance: Instance;
  /** Puts it in the place of the running instance, which it returns, still open: what is under way may need it. */
  commit(): Instance | undefined;
}

export interface Plugins {
  reports(): readonly PluginReport[];
  /** Runs `onReady` of each plugin; a failure is logged. */
  ready(): Promise<void>;
  /**
   * Reads the files of a plugin again, and runs its `setup` again. Throws `HostError` that says what is wrong; then
   * nothing has changed. `name`: as the configuration or the command line names it.
   */
  renew(name: string): Promise<Replacement>;
  /** Closes an instance that was replaced, or that does not take its place. */
  closeInstance(instance: Instance): Promise<void>;
  /** Runs `onClose` in reverse; idempotent. */
  close(): Promise<void>;
}

export interface PluginsOptions extends InstanceOptions, CollectOptions {
  readonly hooks: Hooks;
  readonly registry: Registry;
  /** Called with what all plugins declare, before any of them is set up, and again before one is replaced. */
  readonly onDeclared: (definitions: readonly PluginDefinition[]) => void;
}

interface Running {
  readonly source: PluginSource;
  readonly instance: Instance;
  readonly isolated?: IsolatedPlugin;
}

/** Reports and logs that a plugin is left out. */
function createFailed(reports: Map<string, PluginReport>, log: InstanceOptions["log"]): Failed {
  return (name, bundled, error) => {
    const hint = error instanceof HostError ? error.hint : undefined;
    // A key of its own: the plugin that has the id already is reported under it.
    const isSecond = error instanceof HostError && error.code === "plugin_duplicate";
    reports.set(isSecond ? `${name} (second)` : name, {
      id: name,
      bundled,
      state: "failed",
      reason: reasonOf(error),
      hint,
    });
    log.error({ plugin: name, hint }, reasonOf(error));
  };
}

export async function createPlugins(options: PluginsOptions): Promise<Plugins> {
  const { log, registry, hooks } = options;
  const reports = new Map<string, PluginReport>();
  const running = new Map<string, Running>();
  /** Everything that is to be closed, in the order of its setup. */
  const open = new Set<Instance>();
  const failed = createFailed(reports, log);

  async function setUp({ definition }: Candidate): Promise<Instance> {
    const { id, requires = [] } = definition;
    const down = requires.find((other) => reports.get(other)?.state !== "up");
    if (down !== undefined) throw new PluginError("plugin_requires", { plugin: id, required: down });
    const instance = createInstance(definition, options);
    open.add(instance);
    try {
      await instance.setUp();
      checkUnique(registry, instance.own, id);
      return instance;
    } catch (error) {
      await close(instance);
      throw error;
    }
  }

  function bringIn({ source, definition, isolated }: Candidate, instance: Instance): void {
    const { id, version, channel } = definition;
    const unread = sectionsOf(definition).filter((section) => !instance.own.asked.has(section));
    registry.plugins.set(id, definition);
    hooks.replace(id, instance.taps);
    enter(registry, instance.own, id);
    running.set(id, { source, instance, isolated });
    reports.set(id, {
      ...{ id, version, bundled: source.bundled, state: "up" },
      ...(channel && { channel: channel.id }),
      ...(isolated !== undefined && { isolation: "worker" }),
      ...(unread.length > 0 && { unread }),
    });
  }

  async function close(instance: Instance): Promise<void> {
    await instance.close();
    open.delete(instance);
  }

  const { candidates, off } = await collect(options, reports, failed);
  for (const [path, plugin] of off) registry.off.set(path, plugin);
  const { ordered, missing } = inRequiredOrder(candidates);
  for (const [{ source, definition, isolated }, required] of missing) {
    await isolated?.close();
    failed(definition.id, source.bundled, new PluginError("plugin_requires", { plugin: definition.id, required }));
  }
  options.onDeclared(ordered.map(({ definition }) => definition));
  for (const candidate of ordered) {
    registry.plugins.set(candidate.definition.id, candidate.definition);
    try {
      bringIn(candidate, await setUp(candidate));
    } catch (error) {
      await candidate.isolated?.close();
      failed(candidate.definition.id, candidate.source.bundled, error);
    }
  }

  async function renew(name: string): Promise<Replacement> {
    const source = namedPlugin(name, options.configDirectory);
    const candidate = { source, ...(await loadPlugin(source, options, { again: true })) };
    try {
      return await replacementOf(name, candidate);
    } catch (error) {
      // What fails before its setup has registered no close.
      await candidate.isolated?.close();
      throw error;
    }
  }

  async function replacementOf(name: string, candidate: Candidate): Promise<Replacement> {
    const { source, definition } = candidate;
    const { id } = definition;
    const [before] = [...running].find(([, plugin]) => plugin.source.file === source.file) ?? [];
    if (before !== undefined && before !== id) {
      const reason = `its id was ${before} and is ${id} now, which takes effect after a restart`;
      throw new PluginError("plugin_invalid", { plugin: id, reason, field: "id" });
    }
    if (before === undefined && running.has(id)) throw new PluginError("plugin_duplicate", { plugin: id, field: "id" });
    const instance = await setUpInPlace(candidate);
    return {
      instance,
      commit() {
        const old = running.get(id)?.instance;
        reports.delete(name);
        bringIn(candidate, instance);
        return old;
      },
    };
  }

  /** Set up with the settings that its new declaration describes. */
  async function setUpInPlace(candidate: Candidate): Promise<Instance> {
    const { id } = candidate.definition;
    const declared = [...registry.plugins.values()];
    options.onDeclared([...declared.filter((plugin) => plugin.id !== id), candidate.definition]);
    try {
      return await setUp(candidate);
    } catch (error) {
      options.onDeclared(declared);
      throw error;
    }
  }

  let closing: Promise<void> | undefined;
  return {
    reports: () =>
      [...reports.values()].map((report) => {
        const worker = report.state === "up" ? running.get(report.id)?.isolated?.report() : undefined;
        return worker === undefined ? report : { ...report, worker };
      }),
    async ready() {
      for (const { instance } of running.values()) await instance.ready();
    },
    renew,
    closeInstance: close,
    close() {
      closing ??= (async () => {
        for (const instance of [...open].reverse()) await close(instance);
      })();
      return closing;
    },
  };
}
