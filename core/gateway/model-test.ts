/**
 * Tests models while no gateway runs: the plugins are set up as in one, and nothing else is started. So a key can be
 * tried before the first start.
 */
import { createModelTest, createSpending, resolveProviders, type TestModel } from "../agents/index.ts";
import { createSecrets, type Environment, type LoadedConfig, rememberSecrets } from "../config/index.ts";
import { HostError, reasonOf } from "../contract/index.ts";
import { createLoader, createRegistry, enginesOf } from "../host/index.ts";
import { createLog } from "../log/index.ts";
import { createIds, type Store } from "../state/index.ts";
import { createHooks } from "../stations/index.ts";
import { pluginCache } from "./base.ts";
import { cleaner } from "./report.ts";
import { bringUpPlugins } from "./start-plugins.ts";

export interface LocalModelTest {
  readonly test: TestModel;
  /** Why plugins are left out, one of which may be the engine. */
  readonly failed: readonly string[];
  close(): Promise<void>;
}

export async function openModelTest({
  loaded,
  environment,
  store,
  stateDirectory,
  now,
}: {
  readonly loaded: LoadedConfig;
  readonly environment: Environment;
  /** Counts what the calls use, like those of a gateway. Not closed here. */
  readonly store: Store;
  readonly stateDirectory: string;
  readonly now: () => number;
}): Promise<LocalModelTest> {
  const cleanup = new AsyncDisposableStack();
  const current = { loaded };
  const config = () => current.loaded.config;
  const secrets = createSecrets({ env: environment, directory: loaded.directory });
  rememberSecrets(config(), secrets);
  const { log, redact, close } = createLog({ level: "silent", secrets: () => secrets.values(), print: "none" });
  cleanup.defer(close);
  const newId = createIds(now);
  const registry = createRegistry();
  const onObserverError = (error: unknown, plugin: string) =>
    log.error({ plugin, error: reasonOf(error) }, "an observer failed");
  const none = async (): Promise<never> => {
    throw new HostError("gateway_not_running", { directory: stateDirectory });
  };
  const plugins = await bringUpPlugins({
    ...{ store, log, now, current, config, secrets, stateDirectory, cleanup },
    options: {},
    loader: createLoader({ cacheDirectory: pluginCache(stateDirectory), fresh: false }),
    runtime: {
      ...{ hooks: createHooks({ onObserverError }), registry, newId },
      commands: { add() {} },
      path: { receive: none },
      owner: { place: async () => undefined },
    },
    address: { url: "" },
    handIn: none,
  });
  const clean = cleaner({ redact });
  const testModel = createModelTest({
    ...{ config, now, newId, engines: enginesOf(registry) },
    providers: (models) => resolveProviders(config(), { secrets, models }, () => {}),
    // A notice that is not sent is sent by the next gateway.
    spending: createSpending({ config, store, log, now, newId, notifyOwner: none }),
    elapsed: () => performance.now(),
  });
  return {
    test: async (asked) => clean(await testModel(asked)),
    failed: clean(
      plugins.reports().flatMap(({ id, state, reason = "" }) => (state === "failed" ? [`${id}: ${reason}`] : [])),
    ),
    close: () => cleanup.disposeAsync(),
  };
}
