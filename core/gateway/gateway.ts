/**
 * The life of a gateway: configuration, state, plugins, path, HTTP, in this order up and in reverse down. Everything
 * that lives in it is made here and gone after `close()`; two gateways in one process share nothing.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { createHeartbeat, eventQueue } from "../agents/index.ts";
import {
  changedAtStart,
  createSecrets,
  type Environment,
  type GatewayConfig,
  loadConfig,
  locateConfig,
  locateState,
  rememberSecrets,
} from "../config/index.ts";
import { type Accepted, type HostError, product, type RawEvent } from "../contract/index.ts";
import { createLoader, loadBundledAhead } from "../host/index.ts";
import { routeAddress } from "../http/index.ts";
import { createLog, type LogOptions } from "../log/index.ts";
import type { PluginDefinition } from "../sdk/contract.ts";
import { lockState } from "../state/index.ts";
import { openSqliteStore } from "../state/sqlite/index.ts";
import { writeAddress } from "./address-file.ts";
import { unopenedChannels } from "./config-problems.ts";
import { watchEventLoop } from "./event-loop.ts";
import { createHookSide } from "./hook-side.ts";
import { acceptance, watchOwnership } from "./ownership.ts";
import { startPruning } from "./pruning.ts";
import { followConfig, tellProblem } from "./reload.ts";
import { type GatewayDescription, type Readiness, readinessOf } from "./report.ts";
import { registerActions } from "./routes/actions.ts";
import { registerControl } from "./routes/control.ts";
import { registerManagement } from "./routes/management.ts";
import { registerOperations } from "./routes/operations.ts";
import { registerPairing } from "./routes/pairing.ts";
import { createRuntime } from "./runtime.ts";
import { createServer } from "./server.ts";
import { bringUpPlugins } from "./start-plugins.ts";
import { createTelemetry } from "./telemetry.ts";
import { createGatewayTokens, createHookTokens } from "./tokens.ts";
import { createUndo, type Undo } from "./undo.ts";

export type { GatewayDescription, Readiness };

export interface GatewayOptions {
  /** Configuration file; default: `SERVICE_CONFIG`, else the one in the user's home. */
  readonly configFile?: string;
  readonly environment?: Environment;
  readonly home?: string;
  /** Plugins beside those that the configuration names; for embedders and tests. */
  readonly plugins?: readonly PluginDefinition[];
  /** Whether the plugins that come with the package are loaded; default true. */
  readonly bundled?: boolean;
  /** Where log lines go besides the file in the state directory; default nowhere. */
  readonly print?: LogOptions["print"];
  readonly now?: () => number;
  /** A clock that nobody sets, in milliseconds since any moment: for limits that a jump of the wall clock must not change. */
  readonly elapsed?: () => number;
  readonly random?: () => number;
  /** Milliseconds that a plugin has for its `setup`; default 10 s. */
  readonly pluginSetupMs?: number;
  /** Delay added to each flush, for tests and benchmarks of slow disks. */
  readonly slowFlushMs?: number;
  /**
   * Starts on a state that is lost, damaged, older than its last use or another one: with the database that is there, or with a new one.
   * Without it such a start throws.
   */
  readonly acceptNewState?: boolean;
  /** Called when the command line asks the gateway to end: false where the program does not do that. Default: it does not. */
  readonly onAsked?: (how: "stop" | "restart") => boolean;
  /** Called when the state is gone, or another gateway has taken it over: nothing can be done any more. Default: the gateway closes. */
  readonly onLost?: (error: HostError) => void;
  /** Reads plugin files anew although this process loaded them before. */
  readonly fresh?: boolean;
}

export interface Gateway {
  /** Base address of the HTTP server. */
  readonly url: string;
  readonly stateDirectory: string;
  readonly config: () => GatewayConfig;
  /** Takes an event in as a source would; resolves when it is committed. */
  receive(event: RawEvent): Promise<Accepted>;
  readiness(): Readiness;
  describe(): Promise<GatewayDescription>;
  /** Logs what nobody caught, such as what a plugin's timer threw. `ending`: the process ends of it, so the line is written at once. */
  logStray(error: unknown, options: { readonly ending: boolean }): void;
  /** Stops taking in, finishes or hands back what runs within `gateway.drainSeconds`, closes. Idempotent. */
  close(): Promise<void>;
}

/** Starts a gateway; resolves when it listens and everything that could come up is coming up. */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const undo = createUndo();
  try {
    return await compose(options, undo);
  } catch (error) {
    // What went wrong first is what is told.
    await undo.run().catch(() => {});
    throw error;
  }
}

async function compose(options: GatewayOptions, undo: Undo): Promise<Gateway> {
  const { environment = process.env, home = homedir(), now = Date.now, elapsed = () => performance.now(), random = Math.random } = options;
  const location = options.configFile === undefined ? locateConfig({ env: environment, home }) : { file: options.configFile, named: true };
  const current = { loaded: await loadConfig({ ...location, env: environment }) };
  const config = () => current.loaded.config;
  const { directory: configDirectory } = current.loaded;
  const stateDirectory = locateState({ config: config(), directory: configDirectory, env: environment, home });

  const lock = lockState(stateDirectory);
  undo.add(() => lock.release());
  const secrets = createSecrets({ env: environment, directory: configDirectory });
  rememberSecrets(config(), secrets);
  const logging = createLog({
    level: config().log.level,
    secrets: () => secrets.values(),
    print: options.print ?? "none",
    file: join(stateDirectory, "logs", "gateway.log"),
  });
  const { log, redact, close: closeLog } = logging;
  undo.add(closeLog);
  for (const problem of current.loaded.problems) tellProblem(log, problem);

  const opening = openSqliteStore({
    directory: stateDirectory,
    now,
    owner: true,
    ...(options.slowFlushMs === undefined ? {} : { slowFlushMs: options.slowFlushMs }),
    ...(options.acceptNewState === true && { acceptNewState: acceptance(log) }),
  });
  const fresh = options.fresh ?? false;
  const loader = createLoader({ cacheDirectory: join(stateDirectory, "cache", "plugins"), fresh });
  // The writer's thread takes its time to start.
  if (!fresh && options.bundled !== false) loadBundledAhead(config(), loader);
  const store = await opening;
  undo.add(() => store.close());
  // After the database: a token without one is how an earlier version's lost state is known.
  const gatewayTokens = createGatewayTokens({ config, secrets, log, now, stateDirectory });
  const { resumed, fence } = await store.begin(now());
  if (resumed > 0) log.info({ resumed }, "resuming work of an earlier process");

  const runtime = createRuntime({
    config,
    configDirectory,
    configFile: current.loaded.file,
    environment,
    stateDirectory,
    store,
    secrets,
    log,
    redact,
    ...{ now, elapsed, random },
  });
  const telemetry = createTelemetry({ hooks: runtime.hooks, running: () => runtime.path.lanes.running() });
  const address = { url: "" };
  const plugins = await bringUpPlugins({ options, loader, runtime, store, log, now, loaded: current.loaded, address, undo });
  await runtime.accounts.apply(config(), current.loaded.disabled);
  undo.add(() => runtime.accounts.close());

  const hookTokens = createHookTokens({ config, secrets, log, now });
  const life = { up: false, closing: false, tried: false };
  // What an error says may quote what it was given; these two are shown to others.
  const clean = <T>(value: T): T => JSON.parse(redact(JSON.stringify(value))) as T;
  const readiness = () => clean(readinessOf(life, { loaded: current.loaded, runtime, plugins, store }));
  const hookSide = createHookSide({ loaded: () => current.loaded, runtime, secrets, store, log, now, undo });
  /** What only plugins and mappings find wrong. */
  const channels = () => [...runtime.registry.channels.values()].map(({ definition }) => definition);
  const found = () => [...hookSide.problems(), ...unopenedChannels(channels(), current.loaded, environment)];
  for (const problem of found()) tellProblem(log, problem);
  const server = createServer({
    config,
    runtime,
    store,
    log,
    secrets,
    gatewayTokens,
    telemetry,
    readiness,
    hookTokens,
    life,
    now,
    elapsed,
    hookSide,
  });
  undo.add(() => server.close());
  // Before the server, so that whoever waits for a run is answered.
  undo.add(() => hookSide.results.close());
  const startedAt = now();
  const started = config();
  const describe = async (): Promise<GatewayDescription> =>
    clean({
      product: product.name,
      url: address.url,
      pid: process.pid,
      startedAt,
      configFile: current.loaded.file,
      configRevision: current.loaded.digest,
      stateDirectory,
      hooks: { enabled: hookTokens.token() !== undefined, path: config().hooks.path },
      plugins: plugins.reports(),
      taps: runtime.hooks.taps(),
      routes: runtime.registry.routes.map(({ plugin, definition: { method, path, access } }) => ({
        plugin,
        method,
        path: routeAddress(plugin, path),
        access,
      })),
      accounts: runtime.accounts.reports(),
      problems: [...(current.loaded.refused ?? []), ...current.loaded.problems, ...found()],
      waiting: changedAtStart(started, config()),
      engines: [...runtime.registry.engines.keys()],
      running: runtime.path.lanes.running(),
      stats: await store.stats(),
    });
  registerManagement(server, { poke: () => runtime.path.lanes.rescan(), describe });
  registerPairing(server, { store, config, now, receive: runtime.path.receive });
  registerActions(server, { actions: runtime.actions, clean });
  const following: { reload: () => Promise<object> } = { reload: async () => ({ changed: false, problems: [], waiting: [] }) };
  registerControl(server, {
    reload: () => following.reload(),
    end: (how) => options.onAsked?.(how) ?? false,
    checkStart: () => loadConfig({ file: current.loaded.file, named: current.loaded.found, env: environment }),
    drainSeconds: () => config().gateway.drainSeconds,
    clean,
  });
  registerOperations(server, { accounts: () => runtime.accounts.all(), checks: runtime.registry.checks, clean });

  const waits = (sessionKey: string) => store.queueWaits(eventQueue(sessionKey));
  const heartbeat = createHeartbeat({ config, waits, accept: (event) => runtime.path.receive(event), now, log });
  undo.add(() => heartbeat.close());
  address.url = (await server.listen()).url;
  writeAddress(stateDirectory, { url: address.url, pid: process.pid, startedAt, configFile: current.loaded.file }, undo);
  await runtime.migrations.load();
  await runtime.path.start();
  runtime.accounts.start();
  heartbeat.start();
  await plugins.ready();
  watchEventLoop({ hooks: runtime.hooks, log, undo });
  startPruning({ store, log, now, undo, stateDirectory, channels: () => [...runtime.registry.channels.keys()], config });
  following.reload = followConfig({ current, environment, secrets, runtime, heartbeat, log, undo, found, results: hookSide.results });
  watchOwnership({ store, fence, stateDirectory, log, undo, onLost: options.onLost ?? (() => void close()) });
  life.up = true;
  // Whatever the engine loads lazily is there before the first message asks for it.
  void runtime.turns.prepare();
  void hookSide.prepare();
  log.info(
    { url: address.url, state: stateDirectory, plugins: plugins.reports().filter((plugin) => plugin.state === "up").length },
    "the gateway is up",
  );

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    life.closing = true;
    // Sources first: nothing new comes in while what runs comes to its end.
    heartbeat.close();
    await runtime.accounts.pause();
    // What a tool has to say goes out by itself, at the latest at the next start: its turn must not wait for it.
    runtime.actions.close();
    const drained = await runtime.path.lanes.drain(config().gateway.drainSeconds * 1_000);
    runtime.path.interrupt();
    if (!drained) await runtime.path.lanes.drain(2_000);
    log.info({ drained }, "the gateway closes");
    await undo.run();
  }
  return {
    url: address.url,
    stateDirectory,
    config,
    receive: (event) => runtime.path.receive(event),
    readiness,
    describe,
    logStray(error, { ending }) {
      if (!ending) return log.error({ error }, "unhandled promise rejection");
      log.fatal({ error }, "uncaught exception, shutting down; accepted events resume at the next start");
      closeLog();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
