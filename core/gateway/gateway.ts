/**
 * The life of a gateway: configuration, state, plugins, path and HTTP start in this order and close in reverse.
 * Everything in it is created here and gone after `close()`; two gateways in one process share nothing.
 */
import { createHeartbeat, eventQueue, type Heartbeat } from "../agents/index.ts";
import { startNightlyBackups } from "../backups/index.ts";
import { type GatewayConfig, loadConfig, requireValue } from "../config/index.ts";
import type { Accepted, RawEvent } from "../contract/index.ts";
import { checkListening, HttpProblem, type HttpServer } from "../http/index.ts";
import { createDuties, startError } from "../state/index.ts";
import { checkStateSettings } from "../stores/index.ts";
import { writeAddress } from "./address-file.ts";
import { type Base, openBase } from "./base.ts";
import { logProblem } from "./config-problems.ts";
import { watchEventLoop } from "./event-loop.ts";
import { createHookSide } from "./hook-side.ts";
import { createHttpSide, type HttpSide } from "./http-side.ts";
import { createTelemetry, type Telemetry } from "./metrics/telemetry.ts";
import { joinNodes, lookTopic } from "./nodes.ts";
import type { GatewayOptions } from "./options.ts";
import { watchOwnership } from "./ownership.ts";
import { startPruning } from "./pruning.ts";
import { followConfig } from "./reload.ts";
import { createReplacing, type ReplacedPlugin } from "./replace-plugin.ts";
import {
  cleaner,
  createDescribing,
  type Describing,
  type GatewayDescription,
  type Life,
  type Readiness,
} from "./report.ts";
import { registerActions } from "./routes/actions.ts";
import { createControl, registerControl } from "./routes/control.ts";
import { registerManagement } from "./routes/management.ts";
import { registerOperations } from "./routes/operations.ts";
import { registerPairing } from "./routes/pairing.ts";
import type { V1Deps } from "./routes/v1/deps.ts";
import type { Live } from "./routes/v1/live.ts";
import { registerV1 } from "./routes/v1/register.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { followSharedConfig } from "./shared-config.ts";
import { bringUpPlugins } from "./start-plugins.ts";
import { createHookTokens } from "./tokens.ts";

export type { GatewayDescription, GatewayOptions, Readiness };

export interface Gateway {
  /** Base address of the HTTP server. */
  readonly url: string;
  readonly stateDirectory: string;
  readonly config: () => GatewayConfig;
  /** Accepts an event as from a source; resolves when it is committed. */
  receive(event: RawEvent): Promise<Accepted>;
  readiness(): Readiness;
  describe(): Promise<GatewayDescription>;
  /**
   * Reads the files of a plugin again and replaces it with what they say now, while everything else goes on: events
   * under way end on the old instance, the next event meets the new one. Throws `HostError` that says what is wrong;
   * the old one then stays. `name`: as `plugins.load` or the option `load` names it.
   */
  replacePlugin(name: string): Promise<ReplacedPlugin>;
  /**
   * Logs an uncaught error, such as one that a plugin's timer threw. `ending`: the process ends because of it, so the
   * line is written at once.
   */
  logStray(error: unknown, options: { readonly ending: boolean }): void;
  /**
   * Stops accepting events, finishes or hands back running turns within `gateway.drainSeconds`, and closes. Idempotent.
   */
  close(): Promise<void>;
}

/** A step that fails after another one wraps the error of the other, which is the one to report. */
function firstError(error: unknown): unknown {
  return error instanceof SuppressedError ? firstError(error.suppressed) : error;
}

/** Starts a gateway. Resolves when it listens and everything that can start is starting. */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const cleanup = new AsyncDisposableStack();
  let directory: string | undefined;
  try {
    return await compose(options, cleanup, (stateDirectory) => {
      directory = stateDirectory;
    });
  } catch (error) {
    // The first error is the one to report.
    await cleanup.disposeAsync().catch(() => {});
    throw directory === undefined ? error : startError(error, directory);
  }
}

async function compose(
  options: GatewayOptions,
  cleanup: AsyncDisposableStack,
  onDirectory: (directory: string) => void,
): Promise<Gateway> {
  const base = await openBase(options, cleanup, onDirectory);
  const { current, config, stateDirectory, log, store, now } = base;
  const telemetry: Telemetry = createTelemetry({ store, now, running: () => runtime.path.lanes.running() });
  const runtime = createRuntime(base, telemetry.begins);
  telemetry.follow(runtime.hooks);
  const address = { url: "", startedAt: now() };
  const door: Door = { handIn: notUpYet };
  const plugins = await bringUpPlugins({
    ...base,
    options,
    runtime,
    address,
    handIn: (delivery) => door.handIn(delivery),
  });
  await runtime.accounts.apply(config(), current.loaded.disabled);
  const uses = [runtime.speech, runtime.compactions, runtime.accounts];
  cleanup.defer(() => Promise.all(uses.map((one) => one.close())).then(() => {}));

  const life: Life = { up: false, closing: false, tried: false };
  const hookTokens = createHookTokens(base);
  const hookSide = createHookSide({ ...base, loaded: () => current.loaded, runtime });
  const { readiness, describe, found, watched } = createDescribing(base, {
    runtime,
    plugins,
    hookSide,
    hookTokens,
    life,
    address,
  });
  for (const problem of await found()) logProblem(log, problem);
  const http = createHttpSide({ ...base, runtime, telemetry, readiness, hookTokens, life, hookSide });
  const { server, handIn } = http;
  cleanup.defer(() => server.close());
  // Closed before the server, so that requests that wait for a run are answered.
  cleanup.defer(() => hookSide.results.close());
  const following: Following = { reload: async () => ({ changed: false, problems: [], waiting: [] }) };
  let ownPort = 0;
  registerRoutes(http, { options, base, runtime, describe, readiness, watched, following, ownPort: () => ownPort });

  const waits = (sessionKey: string) => store.queueWaits(eventQueue(sessionKey));
  const duties = createDuties(store.nodes);
  const heartbeat = createHeartbeat({
    config,
    waits,
    accept: (event) => runtime.path.receive(event),
    isDuty: () => duties.has("heartbeat"),
    now,
    log,
  });
  cleanup.defer(() => heartbeat.close());
  ({ url: address.url, port: ownPort } = await server.listen());
  writeAddress(stateDirectory, { ...address, pid: process.pid, configFile: current.loaded.file }, cleanup);
  await runtime.migrations.load();
  await runtime.outages.load();
  await runtime.links.load();
  await runtime.path.start();
  void runtime.approvals.mend();
  joinNodes({ ...base, runtime });
  runtime.accounts.start();
  heartbeat.start();
  door.handIn = handIn;
  await plugins.ready();
  watchEventLoop({ hooks: runtime.hooks, log, cleanup });
  startPruning({
    store,
    duties,
    log,
    now,
    cleanup,
    stateDirectory,
    channels: () => [...runtime.registry.channels.keys()],
    config,
  });
  const backups = startNightlyBackups({
    ...{ loaded: () => current.loaded, schemas: () => current.schemas, place: base.place, store, duties, log, now },
  });
  cleanup.defer(() => backups.close());
  following.reload = followConfig({
    ...{ ...base, runtime, heartbeat, found, results: hookSide.results },
    recheckSessions: http.recheckSessions,
  });
  void http.recheckSessions();
  if (base.syncConfig !== undefined) followSharedConfig(base.syncConfig, log, cleanup);
  const drainMs = () => config().gateway.drainSeconds * 1_000;
  const replacePlugin = createReplacing({ ...base, plugins, runtime, http, hookSide, drainMs });
  const gateway = createHandle({
    base,
    runtime,
    heartbeat,
    life,
    url: address.url,
    readiness,
    describe,
    replacePlugin,
  });
  watchOwnership({ ...base, onLost: options.onLost ?? (() => void gateway.close()) });
  life.up = true;
  // Loads the engine's lazy parts before the first message needs them.
  void runtime.turns.prepare();
  void hookSide.prepare();
  const up = plugins.reports().filter((plugin) => plugin.state === "up").length;
  log.info({ url: address.url, state: stateDirectory, plugins: up }, "the gateway is up");
  return gateway;
}

/** Set once the path runs; plugins are set up before that. */
interface Door {
  handIn: HttpSide["handIn"];
}

const notUpYet: HttpSide["handIn"] = async () => {
  throw new HttpProblem("unavailable", "The gateway is not up yet: submit deliveries once onReady has run.");
};

/** Set after the routes, one of which uses it. */
interface Following {
  reload: () => Promise<object>;
}

function registerRoutes(
  { server, browsers, replay, mapped }: HttpSide,
  {
    options,
    base,
    runtime,
    describe,
    readiness,
    watched,
    following,
    ownPort,
  }: {
    readonly options: GatewayOptions;
    readonly base: Base;
    readonly runtime: Runtime;
    readonly describe: () => Promise<GatewayDescription>;
    readonly readiness: () => Readiness;
    readonly watched: Describing["watched"];
    readonly following: Following;
    readonly ownPort: () => number;
  },
): void {
  const { current, config, store, now } = base;
  const clean = cleaner(base);
  const poke = async () => {
    await runtime.path.lanes.rescan();
    // What an operator has done in the store concerns every node of it.
    await store.nodes?.send({ topic: lookTopic, body: {} });
  };
  registerManagement(server, { poke, describe });
  const ofPairing = { store, config, now, receive: runtime.path.receive, poke };
  registerPairing(server, ofPairing);
  registerActions(server, { actions: runtime.actions, clean });
  const control = createControl({
    reload: () => following.reload(),
    end: (how) => options.onAsked?.(how) ?? false,
    checkStart: async () => {
      const { schemas } = current;
      const next = await loadConfig({
        file: current.loaded.file,
        named: current.loaded.found,
        env: base.environment,
        schemas,
        override: current.loaded.override,
      });
      requireValue(next, current.loaded);
      checkStateSettings(next, base.secrets);
      const { host, port } = next.config.gateway;
      // Its own port is free once it has ended; any other one shows whether the host is one of this machine.
      await checkListening({ host, port: port === ownPort() ? 0 : port });
    },
    drainSeconds: () => config().gateway.drainSeconds,
    clean,
  });
  registerControl(server, control);
  const editing = once(async () => {
    const { createConfigEditing } = await import("./console/config-editing.ts");
    return createConfigEditing(base, { runtime, reload: () => following.reload() });
  });
  const workbench = once(async () => {
    const { createHookWorkbench } = await import("./console/hook-workbench.ts");
    return createHookWorkbench(base, { runtime, editing: await editing(), mapped });
  });
  registerV1Routes(server, runtime.hooks, {
    ...{ ...ofPairing, ...browsers, describe, readiness, watched, clean, accounts: runtime.accounts.reports },
    ...{ stateDirectory: base.stateDirectory, log: base.log, approvals: runtime.approvals, newId: runtime.newId },
    ...{ followLog: base.followLog, secrets: base.secrets, spending: runtime.spending, testModel: runtime.testModel },
    panels: () => runtime.registry.panels,
    written: () => current.loaded.written,
    ...{ control, editing, replay, workbench },
  });
  registerOperations(server, {
    accounts: () => runtime.accounts.all(),
    checks: runtime.registry.checks,
    testModel: runtime.testModel,
    clean,
  });
}

/** What is loaded when it is first needed. A failed attempt is made again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** The stream is created with its first client, and hears of the events that end from then on. */
function registerV1Routes(server: HttpServer, hooks: Runtime["hooks"], deps: V1Deps): void {
  let live: Live | undefined;
  hooks.tap("core", "settled", (record) => live?.ended(record));
  registerV1(server, deps, async () => (live ??= (await import("./routes/v1/live.ts")).createLive(deps)));
}

/** The handle of a running gateway. */
function createHandle(parts: {
  readonly base: Base;
  readonly runtime: Runtime;
  readonly heartbeat: Heartbeat;
  readonly life: Life;
  readonly url: string;
  readonly readiness: Gateway["readiness"];
  readonly describe: Gateway["describe"];
  readonly replacePlugin: Gateway["replacePlugin"];
}): Gateway {
  const { base, runtime, heartbeat, life, url, readiness, describe, replacePlugin } = parts;
  const { config, log, stateDirectory, cleanup } = base;
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    life.closing = true;
    // Sources are closed first, so that no new events arrive while running turns finish.
    heartbeat.close();
    await runtime.accounts.pause();
    // What a tool sends is in the outbox and goes out at the next start at the latest, so its turn must not wait for
    // it.
    runtime.actions.close();
    const drained = await runtime.path.lanes.drain(config().gateway.drainSeconds * 1_000);
    runtime.path.interrupt();
    if (!drained) await runtime.path.lanes.drain(2_000);
    log.info({ drained }, "the gateway closes");
    await cleanup.disposeAsync().catch((error: unknown) => {
      throw firstError(error);
    });
  }
  return {
    ...{ url, stateDirectory, config, readiness, describe, replacePlugin },
    receive: (event) => runtime.path.receive(event),
    logStray(error, { ending }) {
      if (!ending) return log.error({ error }, "unhandled promise rejection");
      log.fatal({ error }, "uncaught exception, shutting down; accepted events resume at the next start");
      base.closeLog();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
