/** The HTTP server: fastify with our own errors, limits and shutdown. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { GatewayConfig } from "../config/index.ts";
import { cannotStore, reasonOf } from "../contract/index.ts";
import { onEvent } from "../listeners/index.ts";
import type { PluginLog } from "../sdk/contract.ts";
import { createAccess } from "./access.ts";
import type { AttemptsOptions } from "./attempts.ts";
import { takeSessionCookie } from "./browsers/cookie.ts";
import { type Page, registerFrontPage } from "./browsers/front-page.ts";
import { registerSignIn, type SignInOptions, signInPath } from "./browsers/sign-in.ts";
import { type ChannelRoutesOptions, registerChannelRoutes } from "./channel-routes.ts";
import { createClientAddress } from "./client-address.ts";
import { createEventStreams } from "./event-stream.ts";
import { type HealthDeps, registerHealth } from "./health.ts";
import { createHostCheck } from "./host-check.ts";
import { createLateRoutes } from "./late-routes.ts";
import { type ListenAddress, listenError } from "./listening.ts";
import { createPluginRoutes, type PluginRoutes } from "./plugin-routes.ts";
import { HttpProblem, jsonType, type ProblemCode, problems, renderProblem } from "./problem.ts";
import { reachWarning } from "./reach.ts";
import { originForm } from "./request-target.ts";
import { type LiveRoute, type OwnRoute, type RouteConfig, registerBodyParser, registerRoute } from "./route.ts";
import { createRouteTable } from "./route-table.ts";
import { sendProblem } from "./send.ts";

export interface HttpServerOptions extends HealthDeps {
  readonly config: () => GatewayConfig;
  readonly log: Pick<PluginLog, "debug" | "info" | "warn" | "error">;
  readonly gatewayToken: () => string | undefined;
  /** The previous gateway token, while it is still valid. */
  readonly previousGatewayToken?: () => string | undefined;
  readonly deviceToken?: (token: string) => Promise<boolean>;
  /** How browsers sign in. Default: none can. */
  readonly browsers?: Pick<SignInOptions, "sessions" | "links" | "onSignIn">;
  /** Pages of plugins for people, listed at the gateway's address. Default: none. */
  readonly pages?: () => readonly Page[];
  /** What answers at the addresses of channels. Default: nothing. */
  readonly channelRoute?: ChannelRoutesOptions["find"];
  /** A monotonic clock, in milliseconds. A jump of the wall clock must neither end nor extend a lock. */
  readonly elapsed: () => number;
  /** Time limit for receiving a whole request including its body, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** How long requests in progress may take to finish when the server closes, in milliseconds. */
  readonly closeTimeoutMs?: number;
}

export interface HttpServer extends PluginRoutes {
  readonly app: FastifyInstance;
  /** The client's address, taking `gateway.trustedProxies` into account. */
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Registers a route of the gateway itself. */
  manage(definition: OwnRoute): void;
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>;
  /**
   * Accepts no more connections, lets requests in progress finish within a time limit, then closes every socket.
   * Idempotent.
   */
  close(): Promise<void>;
}

const headersTimeoutMs = 15_000;
const keepAliveMs = 65_000;
/** A socket without traffic in either direction is closed, even if the client merely does not read its response. */
const idleMs = 120_000;
const maxHeaderBytes = 16_384;
const maxConnections = 8_192;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { config, log, requestTimeoutMs = 30_000, closeTimeoutMs = 5_000 } = options;
  const app = createApp(requestTimeoutMs, log);
  const late = createLateRoutes(app, {
    hooksUrl,
    createApp() {
      const beside = createApp(requestTimeoutMs, log);
      registerHostCheck(beside, config);
      registerBodyParser(beside);
      beside.setNotFoundHandler((_, reply) => sendProblem(reply, notFound));
      return beside;
    },
  });
  registerHostCheck(app, config);
  const clientAddress = createClientAddress(
    () => config().gateway.trustedProxies,
    (entry, reason) =>
      log.warn(
        { path: "gateway.trustedProxies", entry },
        `an entry of gateway.trustedProxies is ignored: it ${reason}`,
      ),
  );
  const onLimited: AttemptsOptions["onLimited"] = (client, seconds) =>
    log.warn({ client, seconds }, "wrong tokens of a client are refused for a while");
  const attempts = { elapsed: options.elapsed, clientAddress, onLimited };
  const access = createAccess({ ...options, ...attempts, sessions: options.browsers?.sessions });
  const streams = createEventStreams({
    onError: (error) => log.warn({ error: reasonOf(error) }, "an event stream ended with an error"),
  });
  const table = createRouteTable();
  const deps = { ...access, clientAddress, streams };

  registerBodyParser(app);
  registerHealth(app, options, { ...access, metricsArePublic: () => config().gateway.metrics.public });
  registerChannelRoutes(app, { ...access, clientAddress, find: options.channelRoute ?? (() => undefined) });
  registerFrontPage(app, { ...access, ready: () => options.readiness().ready, pages: options.pages ?? (() => []) });
  for (const path of ["/healthz", "/readyz", "/metrics"]) table.add("GET", path);
  if (options.browsers !== undefined) registerSignIn(app, { ...options, ...attempts, ...options.browsers }, access);
  for (const method of options.browsers === undefined ? [] : ["GET", "POST", "DELETE"]) table.add(method, signInPath);
  app.setNotFoundHandler((request, reply) => {
    const allowed = table.methodsOf(request.url.split("?", 1)[0] ?? "/");
    if (allowed.length === 0) sendProblem(reply, notFound);
    else
      sendProblem(
        reply,
        new HttpProblem("method_not_allowed", "This address requires another method.", { allow: allowed.join(", ") }),
      );
  });

  const register = (
    at: { readonly method: string; readonly path: string; readonly route: LiveRoute },
    on: FastifyInstance = app,
  ) => registerRoute(on, at, deps);

  let closing: Promise<void> | undefined;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    onEvent(socket, "close", { source: "a client", handle: () => sockets.delete(socket), once: true });
  };
  onEvent(app.server, "connection", { source: "a client", handle: keep });
  const close = async (): Promise<void> => {
    streams.end();
    // Node considers a connection busy if nothing was ever sent on it, and would wait for it.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const force = setTimeout(() => app.server.closeAllConnections(), closeTimeoutMs);
    try {
      await app.close();
    } finally {
      clearTimeout(force);
    }
  };

  return {
    app,
    clientAddress,
    ...createPluginRoutes({ table, late, register, isReserved: (path) => isReserved(path, config().hooks.path) }),
    manage(definition) {
      const { method, path } = definition;
      register({ method, path, route: { isOwn: true, current: definition } });
      table.add(method, path);
    },
    async listen() {
      const bound = await listen(app, config().gateway);
      const warning = reachWarning(config().gateway.host);
      if (warning !== undefined) {
        const hint = "Bind 127.0.0.1, or let only a proxy with TLS reach it: tokens are sent unencrypted.";
        log.warn({ path: "gateway.host", host: bound.host, port: bound.port, hint }, warning);
      }
      return bound;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** The address of the hook endpoints: they take what no other route is for. */
const hooksUrl = "/*";

/** Importing `node:http` would also load its lazy exports, including a WebSocket client: 17 MB and 40 ms. */
const { METHODS } = process.getBuiltinModule("node:http");

/** Replaces fastify's own compilers, which consist of a hundred modules. TypeBox checks the bodies. */
function noCompiler(): never {
  throw new Error("Routes have no fastify schema: their bodies are checked by TypeBox.");
}

function createApp(requestTimeoutMs: number, log: HttpServerOptions["log"]): FastifyInstance {
  const app = fastify({
    logger: false,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
    // During shutdown, requests on open connections are still answered in the usual way.
    return503OnClosing: false,
    genReqId: () => "",
    rewriteUrl: originForm,
    routerOptions: { maxParamLength: 1_024 },
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    http: {
      maxHeaderSize: maxHeaderBytes,
      // Otherwise Node would answer by itself, in a different format.
      requireHostHeader: false,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      // How often Node looks for requests that exceed their time limit.
      connectionsCheckingInterval: Math.min(1_000, Math.ceil(requestTimeoutMs / 4)),
    },
    // A path that cannot be decoded does not exist.
    frameworkErrors: (_error, _request, reply) => sendProblem(reply, notFound),
    clientErrorHandler: answerBrokenRequest,
  });
  app.server.maxConnections = maxConnections;
  // A client may close its sending side after its request. Without this option, which has no type, Node would drop the
  // response.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  // Otherwise Node would request the body before the headers are checked.
  // Other expectations are ignored; Node would reject them without an explanation.
  for (const event of ["checkContinue", "checkExpectation"]) {
    app.server.on(event, (request: IncomingMessage, response: ServerResponse) => app.routing(request, response));
  }
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== "CONNECT") app.addHttpMethod(method, { hasBody: true });
  }
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    if (problem.code === "internal") {
      log.error(
        { method: request.method, route: request.routeOptions.url, error: reasonOf(error) },
        "a request failed",
      );
    }
    sendProblem(reply, problem);
  });
  return app;
}

/** Runs before the hooks of all routes, so that no route needs its own check. */
function registerHostCheck(app: FastifyInstance, config: () => GatewayConfig): void {
  const check = createHostCheck(() => config().gateway);
  app.addHook("onRequest", (request, reply, next) => {
    const { raw } = request;
    takeSessionCookie(raw);
    if (raw.headers.host === undefined && raw.httpVersionMinor !== 0) {
      sendProblem(reply, new HttpProblem("bad_request", "The request has no Host header."));
      return;
    }
    const problem = check(raw);
    if (problem === undefined || takesAnyHost(request, config().hooks.path)) next();
    else sendProblem(reply, problem);
  });
}

/**
 * Whether a request may use any host name. True for hooks, platform webhooks and `/healthz`: they require a token or
 * signature, or reveal nothing.
 */
function takesAnyHost({ url, routeOptions }: FastifyRequest, hooksPath: string): boolean {
  const { anyHost, live } = (routeOptions.config ?? {}) as { readonly anyHost?: boolean; readonly live?: RouteConfig };
  if (anyHost === true || live?.anyHost === true) return true;
  // A plugin's route below the hooks.path of a later configuration is still not a hook.
  return routeOptions.url === hooksUrl && isBelow(url.split("?", 1)[0] ?? "", basePath(hooksPath));
}

const stateProblems: Readonly<Record<string, string>> = {
  database_away: "The gateway's database is not available; the gateway reconnects by itself.",
  state_full: "The disk of the gateway's state is full.",
};
const stateRetry = { "retry-after": "5" };
const notFound = new HttpProblem("not_found", "There is nothing at this address.");

/**
 * Converts an error to a problem. Fastify's errors have a status; their texts about the request may be shown, but
 * internal errors may not.
 */
function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  // It passes by itself, so it is neither a fault of the request nor of the gateway.
  if (cannotStore(error))
    return new HttpProblem(
      "unavailable",
      `${stateProblems[error.code] ?? "Nothing can be stored."} Try again later.`,
      stateRetry,
    );
  const status = (error as { readonly statusCode?: unknown } | null)?.statusCode;
  if (status === 413) return new HttpProblem("payload_too_large", "The body is too large.");
  if (status === 415)
    return new HttpProblem("unsupported_media_type", "The Content-Type of the body is not supported.");
  if (typeof status === "number" && status >= 400 && status < 500)
    return new HttpProblem("bad_request", "The request is malformed.");
  return new HttpProblem("internal", "The request failed; the gateway's log says why.");
}

/**
 * Answers data that never became a request: invalid syntax, oversized headers, a body or headers that arrived too
 * slowly.
 */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // A connection that was opened ahead of a request may get that request just now. Its sender repeats it after a close,
  // and not after a 408.
  const isUnused = error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0;
  if (error.code === "ECONNRESET" || !socket.writable || isUnused) {
    socket.destroy();
    return;
  }
  // Node stores the pending response of this socket here.
  const current = (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage;
  if (current?.req.complete === true && !current.headersSent) {
    // The invalid data followed a complete request, for example a body longer than declared. That request is being
    // processed. An error response would make its sender repeat it.
    current.shouldKeepAlive = false;
    return;
  }
  if (current?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [code, message]: readonly [ProblemCode, string] =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? ["timeout", "The request did not arrive in time."]
      : error.code === "HPE_HEADER_OVERFLOW"
        ? ["headers_too_large", `The headers are larger than ${maxHeaderBytes} bytes.`]
        : ["bad_request", "The request is malformed."];
  const body = renderProblem({ code, message });
  const status = problems[code].status;
  const phrase = { 400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large" }[
    status as 400 | 408 | 431
  ];
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: ${jsonType}\r\nContent-Length: ` +
      `${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), 1_000).unref();
}

/** Paths that belong to the gateway. A plugin must not register routes there. */
function isReserved(path: string, hooksPath: string): boolean {
  return ["/healthz", "/readyz", "/metrics", "/gateway", "/channels", basePath(hooksPath)].some((own) =>
    isBelow(path, own),
  );
}

const basePath = (path: string): string => path.trim().replace(/^\/*/, "/").replace(/\/+$/, "");
const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

async function listen(
  app: FastifyInstance,
  where: ListenAddress,
): Promise<{ readonly host: string; readonly port: number; readonly url: string }> {
  const { host, port } = where;
  try {
    // For the name localhost, fastify opens a second server on ::1, which would ignore our limits and shutdown.
    await app.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
  } catch (cause) {
    throw listenError(cause, where);
  }
  const bound = app.server.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { host: bound.address, port: bound.port, url: `http://${name}:${bound.port}` };
}
