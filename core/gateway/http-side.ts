/** The HTTP side of a gateway: the server, the routes of the plugins, the hook endpoints. */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { defaultAgentId, type GatewayConfig, type Secrets } from "../config/index.ts";
import { type Accepted, PluginError, programCommand, reasonOf } from "../contract/index.ts";
import { type Asked, callPlugin, pluginDeadlines, pluginFault, routeAnswerProblem, unusable } from "../host/index.ts";
import {
  createHttpServer,
  createLinks,
  createSessions,
  type HttpServer,
  type Links,
  routeAddress,
  type Sessions,
} from "../http/index.ts";
import { onEvent } from "../listeners/index.ts";
import { createRedactor, type Log } from "../log/index.ts";
import type { RouteDefinition } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";
import type { TimedCall, UnderWay } from "../stations/index.ts";
import { withPlace } from "../transforms/index.ts";
import {
  acceptHanded,
  addShownChallenge,
  createAccept,
  createRefusals,
  createRepetitions,
  type HandedDelivery,
  hookRoutes,
  type MappedDeps,
  registerWebhooks,
  replayDelivery,
  type WebhookDeps,
} from "../webhooks/index.ts";
import type { HookSide } from "./hook-side.ts";
import type { Telemetry } from "./metrics/telemetry.ts";
import type { Readiness } from "./report.ts";
import type { Runtime } from "./runtime.ts";
import type { HookTokens, Tokens } from "./tokens.ts";

/** Asks the plugins that vouch for devices one after the other; a plugin that fails vouches for none. */
function deviceTokens(checks: Runtime["registry"]["devices"], log: Log): (token: string) => Promise<boolean> {
  return async (token) => {
    for (const { plugin, definition } of checks) {
      try {
        if (
          (await callPlugin({ plugin, doing: "a check of a device's token" }, pluginDeadlines.device, () =>
            definition(token),
          )) === true
        )
          return true;
      } catch (error) {
        log.error({ plugin, error: reasonOf(error) }, "a token of a device could not be checked");
      }
    }
    return false;
  };
}

/**
 * A handler that is late, returns an unusable answer, or fails during its answer is reported with its plugin's name.
 */
function guardRoute(
  plugin: string,
  definition: RouteDefinition,
  { timed, underWay, log }: { readonly timed: TimedCall; readonly underWay: Pick<UnderWay, "add">; readonly log: Log },
): RouteDefinition {
  const asked = { plugin, doing: `${definition.method} ${routeAddress(plugin, definition.path)}` };
  return {
    ...definition,
    async handler(request) {
      const answering = callPlugin(asked, pluginDeadlines.route, () =>
        timed({ plugin, hook: asked.doing }, () => definition.handler(request)),
      );
      underWay.add(answering);
      const answer = await answering;
      const problem = routeAnswerProblem(answer);
      if (problem !== undefined) throw unusable(asked, problem);
      const { body, events } = answer;
      if (events !== undefined) return { ...answer, events: guardStream(asked, events, { timed }) };
      if (!(body instanceof Readable)) return answer;
      const guarded = Readable.from(guardStream(asked, body, { timed, ms: pluginDeadlines.route }), {
        objectMode: false,
      });
      onEvent<readonly [unknown]>(guarded, "error", {
        source: `a response of the plugin ${plugin}`,
        handle: (error) => log.error({ plugin, error: reasonOf(error) }, "a response of a route was cut off"),
      });
      return { ...answer, body: guarded };
    },
  };
}

/** Guards what a plugin yields. Without `ms` there is no limit between two values, as for events. */
async function* guardStream<T>(
  asked: Asked,
  stream: AsyncIterable<T>,
  { timed, ms }: { readonly timed: TimedCall; readonly ms?: number },
): AsyncGenerator<T> {
  let iterator: AsyncIterator<T> | undefined;
  const run = { plugin: asked.plugin, hook: asked.doing };
  try {
    iterator = stream[Symbol.asyncIterator]();
    const next = () => timed(run, () => (iterator as AsyncIterator<T>).next());
    for (;;) {
      const step = ms === undefined ? await next() : await callPlugin(asked, ms, next);
      if (step.done === true) return;
      yield step.value;
    }
  } catch (thrown) {
    throw pluginFault(asked, thrown);
  } finally {
    // Not awaited: a waiting generator responds only after its next value.
    Promise.resolve(iterator?.return?.()).catch(() => {});
  }
}

export interface HttpSide {
  readonly server: HttpServer;
  readonly browsers: { readonly sessions: Sessions; readonly links: Links };
  /** Ends what the gateway token of now does not allow; called at the start and after each edit. Never rejects. */
  recheckSessions(): Promise<void>;
  /** Accepts a delivery that did not come over HTTP. */
  readonly handIn: (delivery: HandedDelivery) => Promise<Accepted>;
  /** Sends a stored delivery through the mappings as they are now. Throws `MappingFailure` and `HttpProblem`. */
  readonly replay: (eventId: string) => ReturnType<typeof replayDelivery>;
  /** What mappings need to be tried without an effect. */
  readonly mapped: MappedDeps;
  /** Other routes of a plugin, guarded. Throws `PluginError` where one is taken. */
  readonly renewRoutes: HttpServer["renew"];
}

function createBrowsers({
  store,
  now,
  elapsed,
  gatewayTokens,
  log,
}: Pick<Parameters<typeof createHttpSide>[0], "store" | "now" | "elapsed" | "gatewayTokens" | "log">) {
  return {
    sessions: createSessions({ store, now, gatewayToken: gatewayTokens.token }),
    links: createLinks(elapsed),
    onSignIn: ({ id, role, from }: { readonly id: string; readonly role: string; readonly from: string }) =>
      log.info({ session: id, role, from }, "a browser signed in"),
  };
}

const recheckSessions = (sessions: Sessions, log: Log): Promise<void> =>
  sessions
    .endOfOtherTokens()
    .catch((error: unknown) => log.warn({ error: reasonOf(error) }, "old browser sessions could not be removed"));

const pagesOf = ({ routes }: Pick<Runtime["registry"], "routes">) =>
  routes.flatMap(({ plugin, definition: { path, page } }) =>
    page === undefined ? [] : [{ path: routeAddress(plugin, path), title: page }],
  );

export function createHttpSide(parts: {
  readonly config: () => GatewayConfig;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly gatewayTokens: Tokens;
  readonly telemetry: Telemetry;
  readonly readiness: () => Readiness;
  readonly hookTokens: HookTokens;
  readonly hookSide: HookSide;
  readonly life: { readonly closing: boolean };
  readonly now: () => number;
  readonly elapsed: () => number;
}): HttpSide {
  const { config, runtime, store, log, gatewayTokens, hookTokens } = parts;
  const browsers = createBrowsers(parts);
  const server = createHttpServer({
    ...{ config, log, elapsed: parts.elapsed, readiness: parts.readiness },
    metrics: () => parts.telemetry.render(),
    gatewayToken: gatewayTokens.token,
    previousGatewayToken: gatewayTokens.previous,
    channelRoute: (channel, rest) => runtime.accounts.route(channel, rest),
    deviceToken: deviceTokens(runtime.registry.devices, log),
    browsers,
    pages: () => pagesOf(runtime.registry),
  });
  const guarded = (plugin: string, definition: RouteDefinition) =>
    guardRoute(plugin, definition, { timed: runtime.hooks.timed, underWay: runtime.path.underWay, log });
  for (const { plugin, definition } of runtime.registry.routes) {
    try {
      server.route(plugin, guarded(plugin, definition));
    } catch (error) {
      log.error({ plugin, path: definition.path }, reasonOf(error));
    }
  }
  const refusals = createRefusals({ store });
  const repetitions = createRepetitions({ store, now: parts.now, log });
  const { mappings, policies, results, recordings, transforms } = parts.hookSide;
  const secrets = parts.secrets.values;
  const redact = createRedactor(secrets);
  const hooks: WebhookDeps = {
    config,
    isOn: hookTokens.isOn,
    token: hookTokens.token,
    previousToken: hookTokens.previous,
    accept: createAccept({ secrets, life: parts.life, receive: runtime.path.receive }),
    first: (dedupeKey) => store.first(dedupeKey),
    body: (eventId) => store.body(eventId),
    budgetOf: (agentId) => runtime.spending.usedUp({ agentId, purpose: "webhook" }),
    ...policies,
    channels: {
      ...policies.channels,
      hasLastRecipient: async (id) => (await runtime.router.lastRecipient(defaultAgentId(config())))?.channel === id,
    },
    mappings,
    results,
    transform: (call) => transforms.run(call).catch((error: unknown) => Promise.reject(withPlace(error))),
    clientAddress: server.clientAddress,
    newId: randomUUID,
    confirm: runtime.confirm,
    now: parts.now,
    elapsed: parts.elapsed,
    log,
    recordings,
    onRefused: (refused) =>
      refusals.add({ ...refused, subPath: redact(refused.subPath), detail: redact(refused.detail) }),
    onRepeated: (eventId) => repetitions.add(eventId),
    onShown(shown) {
      log.info(
        { hook: shown.hook, client: shown.client },
        `a platform sent a value to copy: \`${programCommand} hooks challenges\``,
      );
      addShownChallenge(store, shown).catch((error: unknown) =>
        log.warn({ error: reasonOf(error) }, "the value could not be stored"),
      );
    },
  };
  registerWebhooks(server.app, hooks);
  const inner = { ...hooks, settings: () => config().hooks };
  const replay = (eventId: string) => replayDelivery(eventId, { ...inner, store, table: mappings });
  for (const route of hookRoutes({ recordings, replay })) server.manage(route);
  return {
    server,
    browsers,
    recheckSessions: () => recheckSessions(browsers.sessions, log),
    ...{ replay, mapped: inner },
    handIn: (delivery) => acceptHanded(delivery, inner),
    renewRoutes: (plugin, definitions) =>
      server
        .renew(
          plugin,
          definitions.map((definition) => guarded(plugin, definition)),
        )
        .catch((cause: unknown) => {
          throw new PluginError("plugin_invalid", { plugin, reason: reasonOf(cause) }, { cause });
        }),
  };
}
