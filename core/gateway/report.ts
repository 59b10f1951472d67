/** A gateway's report about itself: whether it is ready, and what is running in it. */

import { type ModelStanding, type RefusedTool, unpricedProblems } from "../agents/index.ts";
import { type AccountReport, reasonOfStatus } from "../channels/index.ts";
import {
  agentIds,
  agentSettings,
  changedAtStart,
  type GatewayConfig,
  type LoadedConfig,
  type Problem,
} from "../config/index.ts";
import { product, reasonOf } from "../contract/index.ts";
import { type PluginReport, type Plugins, type Registry, type WatchReport, watchedProblem } from "../host/index.ts";
import { routeAddress } from "../http/index.ts";
import { type Log, redactValue } from "../log/index.ts";
import type { Store, StoreStats } from "../state/index.ts";
import type { TapInfo } from "../stations/index.ts";
import type { Base } from "./base.ts";
import { sectionProblems, unopenedChannels, unreadSections } from "./config-problems.ts";
import type { HookSide } from "./hook-side.ts";
import type { Runtime } from "./runtime.ts";
import type { HookTokens } from "./tokens.ts";

export interface Readiness {
  readonly ready: boolean;
  /** One sentence for each thing that is not up. A gateway that is ready with reasons is degraded. */
  readonly reasons: readonly string[];
  /** Whether every channel account has connected or failed once. */
  readonly tried: boolean;
}

export interface GatewayDescription {
  readonly product: string;
  readonly url: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly configFile: string;
  /** Changes with the text of the effective configuration file. */
  readonly configRevision: string;
  readonly stateDirectory: string;
  readonly hooks: { readonly enabled: boolean; readonly path: string };
  readonly plugins: readonly PluginReport[];
  readonly taps: readonly TapInfo[];
  readonly routes: readonly {
    readonly plugin: string;
    readonly method: string;
    readonly path: string;
    readonly access: string;
  }[];
  readonly accounts: readonly AccountReport[];
  /** What plugins watch besides channels, by plugin id. */
  readonly watched: Readonly<Record<string, ReturnType<WatchReport>>>;
  /** Problems of the effective configuration. */
  readonly problems: readonly Problem[];
  /** Settings that were changed since the start, and take effect after a restart. */
  readonly waiting: readonly string[];
  readonly engines: readonly string[];
  /**
   * Agents whose next turn passes over a model: which model would answer instead (absent: none), and why not the
   * others.
   */
  readonly models: readonly (Pick<ModelStanding, "model" | "skipped"> & { readonly agent: string })[];
  /**
   * Tools that the server of a model does not accept, so that turns go on without them, as far as turns have shown it
   * since the start.
   */
  readonly refusedTools: readonly RefusedTool[];
  readonly running: number;
  readonly stats: StoreStats;
}

/**
 * Judges readiness by the rule of `/readyz`. `life.tried` is set once every account has connected or failed. After
 * that, failures of accounts, and accounts that a reload adds, can degrade the gateway but never make it unready.
 */
function readinessOf(
  life: { readonly up: boolean; readonly closing: boolean; tried: boolean },
  {
    loaded,
    runtime,
    plugins,
    store,
    watchedNow,
  }: {
    readonly loaded: LoadedConfig;
    readonly runtime: Runtime;
    readonly plugins: Plugins;
    readonly store: Pick<Store, "trouble">;
    readonly watchedNow: () => Watched;
  },
): Readiness {
  const trouble = store.trouble();
  life.tried ||= life.up && runtime.accounts.allTried();
  const blocking = [
    ...(life.closing ? ["The gateway closes."] : life.up ? [] : ["The gateway starts."]),
    ...(trouble === undefined ? [] : [`Nothing can be stored: ${trouble}`]),
    ...(loaded.disabled.has("hooks") ? ["hooks has an error in the configuration: the hook server is off."] : []),
    ...plugins
      .reports()
      .flatMap((plugin) => (plugin.state === "failed" ? [plugin.reason ?? `The plugin ${plugin.id} failed.`] : [])),
  ];
  const accounts = runtime.accounts.reports().flatMap(({ channel, account, status, standby }) => {
    if (status.state === "connected" || (standby === true && status.state !== "failed")) return [];
    const reason = reasonOfStatus(status);
    return [`${channel}:${account} is ${status.state}${reason === undefined ? "" : `: ${reason}`}`];
  });
  const watched = Object.values(watchedNow())
    .flat()
    .flatMap(({ source, account, state, reason }) =>
      state === "ok" || state === "standby" ? [] : [`${source}:${account} is ${state}: ${reason}`],
    );
  return {
    ready: blocking.length === 0 && life.tried,
    reasons: [...blocking, ...accounts, ...watched],
    tried: life.tried,
  };
}

/** An agent whose engine or model is unknown is reported as a problem of the configuration. */
async function passedOver(
  standings: Runtime["standings"],
  config: GatewayConfig,
): Promise<GatewayDescription["models"]> {
  const all = await Promise.all(
    agentIds(config).map(async (agent) => {
      try {
        const { model, skipped } = await standings.of(agentSettings(config, agent));
        return { agent, model, skipped };
      } catch {
        return { agent, skipped: [] };
      }
    }),
  );
  return all.filter(({ skipped }) => skipped.length > 0);
}

type Watched = GatewayDescription["watched"];

/** What plugins report, by plugin. A report that throws or is unusable is left out, and logged once. */
function createWatched(reports: Registry["watched"], log: Pick<Log, "warn">): () => Watched {
  const logged = new Set<WatchReport>();
  function watchedOf({ plugin, definition }: Registry["watched"][number]): ReturnType<WatchReport> {
    try {
      const watched = definition();
      const problem = watchedProblem(watched);
      if (problem === undefined) return watched;
      throw new Error(`it returned something unusable: ${problem}`);
    } catch (error) {
      if (!logged.has(definition))
        log.warn({ plugin, reason: reasonOf(error) }, "a report of the plugin for status is left out");
      logged.add(definition);
      return [];
    }
  }
  return () => {
    const all: Record<string, ReturnType<WatchReport>> = {};
    for (const report of reports) all[report.plugin] = [...(all[report.plugin] ?? []), ...watchedOf(report)];
    return all;
  };
}

/** How far a gateway has started or closed. */
export interface Life {
  up: boolean;
  closing: boolean;
  tried: boolean;
}

export interface Describing {
  readiness(): Readiness;
  /** Problems that only plugins and mappings find. */
  found(): Promise<readonly Problem[]>;
  describe(): Promise<GatewayDescription>;
  /** What plugins watch besides channels, by plugin id. Answered from memory. */
  watched(): Watched;
}

export function createDescribing(
  base: Base,
  parts: {
    readonly runtime: Runtime;
    readonly plugins: Plugins;
    readonly hookSide: HookSide;
    readonly hookTokens: HookTokens;
    readonly life: Life;
    readonly address: { readonly url: string; readonly startedAt: number };
  },
): Describing {
  const { current, config, store, stateDirectory, environment } = base;
  const { runtime, plugins, hookSide, hookTokens, life, address } = parts;
  const clean = cleaner(base);
  const channels = () => [...runtime.registry.channels.values()].map(({ definition }) => definition);
  const sections = async () => {
    const found = await Promise.all(
      [...runtime.registry.plugins.values()].map((plugin) => sectionProblems(plugin, current.loaded, base.now)),
    );
    const { refused = [], locate } = current.loaded;
    // A new part of a section that has an error was reported when the file was read.
    const isNew = ({ path, message }: Problem) => !refused.some((one) => one.path === path && one.message === message);
    return found
      .flat()
      .filter(isNew)
      .map((problem) => ({ ...locate(problem.path), ...problem }));
  };
  const found = async () => [
    ...hookSide.problems(),
    ...(await unopenedChannels(channels(), current.loaded, environment)),
    ...(await sections()),
    ...[...unreadSections(runtime.registry.off, current.loaded), ...(await unpricedProblems(config()))].map(
      (problem) => ({ ...current.loaded.locate(problem.path), ...problem }),
    ),
  ];
  const started = config();
  const watchedNow = createWatched(runtime.registry.watched, base.log);
  return {
    found,
    watched: () => clean(watchedNow()),
    readiness: () => clean(readinessOf(life, { loaded: current.loaded, runtime, plugins, store, watchedNow })),
    describe: async () =>
      clean({
        product: product.name,
        url: address.url,
        pid: process.pid,
        startedAt: address.startedAt,
        configFile: current.loaded.file,
        configRevision: current.loaded.digest,
        stateDirectory,
        hooks: { enabled: hookTokens.isOn(), path: config().hooks.path },
        plugins: plugins.reports(),
        taps: runtime.hooks.taps(),
        routes: runtime.registry.routes.map(({ plugin, definition: { method, path, access } }) => ({
          plugin,
          method,
          path: routeAddress(plugin, path),
          access,
        })),
        accounts: runtime.accounts.reports(),
        watched: watchedNow(),
        problems: [...(current.loaded.refused ?? []), ...current.loaded.problems, ...(await found())],
        waiting: changedAtStart(started, config()),
        engines: [...runtime.registry.engines.keys()],
        models: await passedOver(runtime.standings, config()),
        refusedTools: runtime.refusedTools.all(),
        running: runtime.path.lanes.running(),
        stats: await store.stats(),
      }),
  };
}

/** Removes secrets from values that are shown to others: an error may quote its input. */
export function cleaner({ redact }: Pick<Base, "redact">): <T>(value: T) => T {
  return <T>(value: T): T => {
    const text = JSON.stringify(value);
    const copy = JSON.parse(text) as T;
    return redact(text) === text ? copy : redactValue(copy, redact);
  };
}
