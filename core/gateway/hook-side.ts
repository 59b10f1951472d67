/** What the hook server needs: the current mappings, transforms, results of runs. */

import { channelMeant } from "../access/index.ts";
import { platformProblem } from "../channels/index.ts";
import type { GatewayConfig, LoadedConfig, Problem, Secrets } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Store } from "../state/index.ts";
import {
  checkModule,
  createTransforms,
  resolveTransformsRoot,
  type Transforms,
  withPlace,
} from "../transforms/index.ts";
import {
  compileMappings,
  createRecordings,
  createResults,
  hookPolicies,
  type MappingTable,
  type Recordings,
  type Results,
} from "../webhooks/index.ts";
import type { Runtime } from "./runtime.ts";

export interface HookSide {
  /** Compiled once for each configuration; empty while the hook server is disabled. */
  readonly mappings: () => MappingTable;
  /** Problems of the mappings, also while an error elsewhere keeps the hook server off. */
  readonly problems: () => readonly Problem[];
  /** Compiles the mappings again: a plugin that was replaced may bring other presets. */
  readonly recompile: () => void;
  readonly policies: ReturnType<typeof hookPolicies>;
  readonly transforms: Transforms;
  /**
   * Loads the transforms that mappings name, so that the first delivery does not wait for them, and logs those that
   * fail.
   */
  readonly prepare: () => Promise<void>;
  /** Close before the server. */
  readonly results: Results;
  readonly recordings: Recordings;
}

export function createHookSide(parts: {
  readonly config: () => GatewayConfig;
  readonly loaded: () => LoadedConfig;
  readonly runtime: Runtime;
  readonly secrets: Secrets;
  readonly store: Store;
  readonly log: Log;
  readonly elapsed: () => number;
  readonly cleanup: AsyncDisposableStack;
}): HookSide {
  const { loaded, runtime, store, log, elapsed, cleanup } = parts;
  const settings = () => parts.config().hooks;
  const policies = hookPolicies(parts.config, {
    channels: () => runtime.registry.channels.keys(),
    available: (id) => runtime.accounts.of(id).length > 0,
    meant: (word) =>
      channelMeant(
        word,
        [...runtime.registry.channels.values()].map(({ definition }) => definition),
      )?.explanation,
    platformProblem: (id, given) => platformProblem(runtime.registry.channels.get(id)?.definition, given),
  });
  const transforms = createTransforms({
    root: () => resolveTransformsRoot({ configDirectory: loaded().directory, transformsDir: settings().transformsDir }),
    settings: () => settings().transforms,
    log,
    now: elapsed,
  });
  cleanup.defer(() => transforms.close());
  const results = createResults({ store, exposeReplies: () => settings().exposeReplies });
  runtime.hooks.tap("core", "settled", (record) => results.settled(record));
  const recordings = createRecordings({ secrets: () => parts.secrets.values() });
  const prepare = async (): Promise<void> => {
    const { enabled, mappings } = settings();
    const modules = new Set(
      enabled ? mappings.flatMap((mapping) => (mapping.transform === undefined ? [] : [mapping.transform.module])) : [],
    );
    for (const module of modules) {
      await transforms.exportsOf(module).catch((error: unknown) => {
        log.warn({ transform: module }, `the transform ${module} cannot be loaded: ${reasonOf(withPlace(error))}`);
      });
    }
  };
  return { ...currentMappings(parts, policies), policies, transforms, prepare, results, recordings };
}

function currentMappings(
  {
    loaded,
    runtime,
    secrets,
  }: { readonly loaded: () => LoadedConfig; readonly runtime: Runtime; readonly secrets: Secrets },
  policies: HookSide["policies"],
): Pick<HookSide, "mappings" | "problems" | "recompile"> {
  const compile = (of: LoadedConfig, hooks: GatewayConfig["hooks"]): MappingTable => {
    const where = { configDirectory: of.directory, transformsDir: hooks.transformsDir };
    const table = compileMappings({
      ...policies,
      hooks: hooks.enabled ? hooks : { ...hooks, mappings: [], presets: [] },
      problems: of.problems,
      presets: new Map([...runtime.registry.presets].map(([id, { definition }]) => [id, definition])),
      secret: (value, path) => secrets.resolve(value, path),
      checkTransform: (module) => checkModule(module, where),
    });
    return { ...table, problems: table.problems.map((problem) => ({ ...of.locate(problem.path), ...problem })) };
  };
  let known:
    | { readonly of: LoadedConfig; readonly table: MappingTable; readonly problems: readonly Problem[] }
    | undefined;
  const current = () => {
    const of = loaded();
    if (known?.of === of) return known;
    const table = compile(of, of.config.hooks);
    const isOff = of.checkable.hooks.enabled && !of.config.hooks.enabled;
    known = { of, table, problems: isOff ? compile(of, of.checkable.hooks).problems : table.problems };
    return known;
  };
  return {
    mappings: () => current().table,
    problems: () => current().problems,
    recompile() {
      known = undefined;
    },
  };
}
