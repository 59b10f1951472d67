/** What a gateway needs before anything runs: configuration, lock, secrets, log, state. */
import { homedir } from "node:os";
import { join } from "node:path";
import {
  createSecrets,
  type Environment,
  type GatewayConfig,
  type LoadedConfig,
  loadConfig,
  locateConfig,
  locateState,
  type PluginSchemas,
  rememberSecrets,
  type Secrets,
} from "../config/index.ts";
import { createLoader, type Loader, loadBundledAhead } from "../host/index.ts";
import { createLog, type Log, type OpenLog } from "../log/index.ts";
import { lockState, type Nodes, type Store } from "../state/index.ts";
import { checkStateSettings, createSharedConfig, openState, type StatePlace, statePlace } from "../stores/index.ts";
import { checkConfigName, writeAddress } from "./address-file.ts";
import { logProblem } from "./config-problems.ts";
import type { GatewayOptions } from "./options.ts";
import { acceptance } from "./ownership.ts";
import { type ConfigSync, createConfigSync } from "./shared-config.ts";
import { createStateWait } from "./state-away.ts";
import { createGatewayTokens, type Tokens } from "./tokens.ts";

/** Where compiled files of plugins are kept. */
export const pluginCache = (stateDirectory: string): string => join(stateDirectory, "cache", "plugins");

export interface Current {
  loaded: LoadedConfig;
  /** What the plugins declare of it; absent until they are loaded. */
  schemas?: PluginSchemas;
}

export interface Base {
  /** The effective configuration, replaced as a whole when the file is edited. */
  readonly current: Current;
  readonly config: () => GatewayConfig;
  readonly configDirectory: string;
  /** The file that `/config` edits. */
  readonly configFile: string;
  /** Set if the nodes of the store share their configuration. */
  readonly syncConfig: ConfigSync | undefined;
  readonly environment: Environment;
  readonly stateDirectory: string;
  readonly place: StatePlace;
  readonly secrets: Secrets;
  readonly log: Log;
  /** Removes secrets by value, as the log does. */
  readonly redact: (text: string) => string;
  /** Hands each line of the log, without secrets, to one listener. */
  readonly followLog: OpenLog["follow"];
  readonly closeLog: () => void;
  readonly loader: Loader;
  readonly store: Store;
  /** The fencing number of this gateway's ownership of the state. */
  readonly fence: number;
  readonly gatewayTokens: Tokens;
  readonly now: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly cleanup: AsyncDisposableStack;
}

/** `onDirectory` is called with the state directory before anything is written there. */
export async function openBase(
  options: GatewayOptions,
  cleanup: AsyncDisposableStack,
  onDirectory: (directory: string) => void,
): Promise<Base> {
  const {
    environment = process.env,
    home = homedir(),
    elapsed = () => performance.now(),
    random = Math.random,
  } = options;
  const ownClock = Date.now;
  let nodes: Nodes | undefined;
  const now = options.now ?? (() => nodes?.time() ?? ownClock());
  const location =
    options.configFile === undefined
      ? locateConfig({ env: environment, home })
      : { file: options.configFile, named: true };
  const current: Current = { loaded: await loadConfig({ ...location, env: environment, override: options.override }) };
  const config = () => current.loaded.config;
  const { directory, file: configFile } = current.loaded;
  const stateDirectory = locateState({ config: config(), directory, env: environment, home });
  onDirectory(stateDirectory);
  checkConfigName(configFile, stateDirectory);

  const secrets = createSecrets({ env: environment, directory });
  checkStateSettings(current.loaded, secrets);
  const place = statePlace(config(), stateDirectory);
  const lock = lockState(stateDirectory);
  cleanup.defer(() => lock.release());
  rememberSecrets(config(), secrets);
  const logging = createLog({
    level: config().log.level,
    secrets: () => secrets.values(),
    print: options.print ?? "none",
    file: join(stateDirectory, "logs", "gateway.log"),
  });
  const { log, redact, follow: followLog, close: closeLog } = logging;
  cleanup.defer(closeLog);
  for (const problem of current.loaded.problems) logProblem(log, problem);

  const fresh = options.fresh ?? false;
  const loader = createLoader({ cacheDirectory: pluginCache(stateDirectory), fresh });
  const wait = createStateWait({
    ...{ config, log, elapsed, signal: options.signal },
    tokens: () => createGatewayTokens({ config, secrets, log, now, stateDirectory }),
    onListening: (url) =>
      writeAddress(stateDirectory, { url, pid: process.pid, startedAt: now(), configFile }, cleanup),
  });
  cleanup.defer(wait.end);
  const opening = wait.until(() =>
    openState({
      ...{ place, now, owner: true },
      secrets: async () => secrets,
      plugins: async () => ({
        loader,
        load: config().plugins.load,
        configDirectory: directory,
        given: options.plugins ?? [],
      }),
      ...(options.slowFlushMs === undefined ? {} : { slowFlushMs: options.slowFlushMs }),
      ...(options.writerThread === undefined ? {} : { writerThread: options.writerThread }),
      ...(options.acceptNewState === true && { acceptNewState: acceptance(log) }),
    }),
  );
  // Uses the time that the store takes to open.
  if (!fresh && options.bundled !== false) loadBundledAhead(config(), loader);
  const store = await opening;
  nodes = store.nodes;
  cleanup.defer(() => store.close());
  // Created after the database: a token without a database shows that an earlier version's state is lost.
  const gatewayTokens = createGatewayTokens({ config, secrets, log, now, stateDirectory });
  const { resumed, fence } = await wait.until(() => store.begin(now()));
  await wait.end();
  if (resumed > 0) log.info({ resumed }, "resuming work of an earlier process");
  const syncConfig =
    config().state.config === "store"
      ? createConfigSync(
          createSharedConfig({
            store,
            file: configFile,
            stateDirectory,
            env: environment,
            schemas: () => current.schemas,
          }),
          configFile,
          log,
        )
      : undefined;
  if ((await syncConfig?.()) === "pulled") {
    current.loaded = await loadConfig({ ...location, env: environment, override: options.override });
    rememberSecrets(config(), secrets);
  }
  return {
    ...{ current, config, syncConfig, configDirectory: directory, configFile, environment, stateDirectory, place },
    ...{ secrets, log, redact, followLog, closeLog, loader, store, fence, gatewayTokens },
    ...{ now, elapsed, random, cleanup },
  };
}
