/** The HTTP server: fastify with our errors, our limits and our way of closing. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { GatewayConfig } from "../config/index.ts";
import { HostError, reasonOf } from "../contract/index.ts";
import type { PluginLog, RouteDefinition } from "../sdk/contract.ts";
import { createAccess } from "./access.ts";
import { createClientAddress } from "./client-address.ts";
import { createEventStreams } from "./event-stream.ts";
import { type HealthDeps, registerHealth } from "./health.ts";
import { createHostCheck } from "./host-check.ts";
import { HttpProblem, jsonType, type ProblemCode, problems, renderProblem } from "./problem.ts";
import { reachWarning } from "./reach.ts";
import { registerBodyParser, registerRoute } from "./route.ts";
import { createRouteTable, routeAddress } from "./route-table.ts";
import { sendProblem } from "./send.ts";

export interface HttpServerOptions extends HealthDeps {
  readonly config: () => GatewayConfig;
  readonly log: Pick<PluginLog, "debug" | "info" | "warn" | "error">;
  readonly gatewayToken: () => string | undefined;
  /** The one that it replaced, for as long as that one is valid too. */
  readonly previousGatewayToken?: () => string | undefined;
  readonly deviceToken?: (token: string) => boolean | Promise<boolean>;
  /** A monotonic clock, in milliseconds: a jump of the wall clock must neither end a lock nor make it last. */
  readonly elapsed: () => number;
  /** Milliseconds in which a whole request, its body included, must have arrived. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds that requests in flight have to finish when the server closes. */
  readonly closeTimeoutMs?: number;
}

export interface HttpServer {
  readonly app: FastifyInstance;
  /** The client of a request, after `gateway.trustedProxies`. */
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Registers a plugin's route, below `/plugins/<id>/` unless its path begins with `/`. Before `listen` only. */
  route(pluginId: string, definition: RouteDefinition): void;
  /** Registers a route of the gateway itself. */
  manage(definition: RouteDefinition): void;
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>;
  /** Takes no more connections, lets requests in flight finish within a bound, then ends every socket. Idempotent. */
  close(): Promise<void>;
}

const headersTimeoutMs = 15_000;
const keepAliveMs = 65_000;
/** A socket on which nothing moves, in neither direction, is cut: a client that does not read its answer, too. */
const idleMs = 120_000;
const maxHeaderBytes = 16_384;
const maxConnections = 8_192;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { config, log, requestTimeoutMs = 30_000, closeTimeoutMs = 5_000 } = options;
  const app = createApp(requestTimeoutMs, log);
  registerHostCheck(app, config);
  const clientAddress = createClientAddress(
    () => config().gateway.trustedProxies,
    (entry, reason) => log.warn({ path: "gateway.trustedProxies", entry }, `an entry of gateway.trustedProxies is left out: it ${reason}`),
  );
  const access = createAccess({
    ...options,
    clientAddress,
    onLimited: (client, seconds) => log.warn({ client, seconds }, "wrong tokens of a client are refused for a while"),
  });
  const streams = createEventStreams({ onError: (error) => log.warn({ error: reasonOf(error) }, "an event stream ended with an error") });
  const table = createRouteTable();
  const deps = { ...access, clientAddress, streams };

  registerBodyParser(app);
  registerHealth(app, options, { ...access, metricsArePublic: () => config().gateway.metrics.public });
  for (const path of ["/healthz", "/readyz", "/metrics"]) table.add("GET", path);
  app.setNotFoundHandler((request, reply) => {
    const allowed = table.methodsOf(request.url.split("?", 1)[0] ?? "/");
    if (allowed.length === 0) sendProblem(reply, notFound());
    else sendProblem(reply, new HttpProblem("method_not_allowed", "This address takes another method.", { allow: allowed.join(", ") }));
  });

  const add = (path: string, definition: RouteDefinition): void => {
    registerRoute(app, path, definition, deps);
    table.add(definition.method, path);
  };

  let closing: Promise<void> | undefined;
  const sockets = new Set<Socket>();
  app.server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const close = async (): Promise<void> => {
    streams.end();
    // Node counts a connection on which nothing was ever sent as busy, and would wait for it.
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
    route(pluginId, definition) {
      const path = routeAddress(pluginId, definition.path);
      const taken = isReserved(path, config().hooks.path) || table.has(definition.method, path);
      if (taken) throw new Error(`The route ${definition.method} ${path} is taken already`);
      add(path, definition);
    },
    manage(definition) {
      add(definition.path, definition);
    },
    async listen() {
      const bound = await listen(app, config().gateway);
      const warning = reachWarning(config().gateway.host);
      if (warning !== undefined) {
        const hint = "Bind 127.0.0.1, or let only a proxy with TLS reach it: tokens travel in the clear.";
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

/** An `import` of `node:http` would touch its lazy exports too, and load a whole WebSocket client: 17 MB and 40 ms. */
const { METHODS } = process.getBuiltinModule("node:http");

/** In place of fastify's own compilers, which are a hundred modules: bodies are checked by TypeBox. */
function noCompiler(): never {
  throw new Error("Routes have no fastify schema: their bodies are checked by TypeBox.");
}

function createApp(requestTimeoutMs: number, log: HttpServerOptions["log"]): FastifyInstance {
  const app = fastify({
    logger: false,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
    // While it closes, requests on open connections are still answered, by the same rules and in the same form.
    return503OnClosing: false,
    genReqId: () => "",
    routerOptions: { maxParamLength: 1_024 },
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    http: {
      maxHeaderSize: maxHeaderBytes,
      // Node would answer by itself, and not in our form.
      requireHostHeader: false,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      // How often node looks for requests that are late.
      connectionsCheckingInterval: Math.min(1_000, Math.ceil(requestTimeoutMs / 4)),
    },
    // An address that cannot be decoded names nothing.
    frameworkErrors: (_error, _request, reply) => sendProblem(reply, notFound()),
    clientErrorHandler: answerBrokenRequest,
  });
  app.server.maxConnections = maxConnections;
  // A client may close its sending side once its request is out. Node would drop the answer. The option has no type.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  // Otherwise node asks for the body before anybody has looked at the headers.
  // Another expectation than that may be passed over; node would refuse it without a word.
  for (const event of ["checkContinue", "checkExpectation"]) {
    app.server.on(event, (request: IncomingMessage, response: ServerResponse) => app.routing(request, response));
  }
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== "CONNECT") app.addHttpMethod(method, { hasBody: true });
  }
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    if (problem.code === "internal") {
      log.error({ method: request.method, route: request.routeOptions.url, error: reasonOf(error) }, "a request failed");
    }
    sendProblem(reply, problem);
  });
  return app;
}

/** Before the hooks of any route, so that no route has to think of it. */
function registerHostCheck(app: FastifyInstance, config: () => GatewayConfig): void {
  const check = createHostCheck(() => config().gateway);
  app.addHook("onRequest", (request, reply, next) => {
    const { raw } = request;
    if (raw.headers.host === undefined && raw.httpVersionMinor !== 0) {
      sendProblem(reply, new HttpProblem("bad_request", "The request has no Host header."));
      return;
    }
    const problem = check(raw);
    if (problem === undefined || takesAnyHost(request, config().hooks.path)) next();
    else sendProblem(reply, problem);
  });
}

/** Hooks, webhooks of platforms and `/healthz`: a token or a signature decides there, or nothing is said. */
function takesAnyHost({ url, routeOptions }: FastifyRequest, hooksPath: string): boolean {
  if ((routeOptions.config as { readonly anyHost?: boolean } | undefined)?.anyHost === true) return true;
  // A plugin's route that lies below a hooks.path of a later configuration is still no hook.
  return routeOptions.url === "/*" && isBelow(url.split("?", 1)[0] ?? "", basePath(hooksPath));
}

function notFound(): HttpProblem {
  return new HttpProblem("not_found", "There is nothing at this address.");
}

/** Errors of fastify carry a status; what it says about the request may be repeated, what broke inside may not. */
function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  const status = (error as { readonly statusCode?: unknown } | null)?.statusCode;
  if (status === 413) return new HttpProblem("payload_too_large", "The body is too large.");
  if (status === 415) return new HttpProblem("unsupported_media_type", "The Content-Type of the body is not supported.");
  if (typeof status === "number" && status >= 400 && status < 500) return new HttpProblem("bad_request", "The request is malformed.");
  return new HttpProblem("internal", "The request failed; the gateway's log says why.");
}

/** Answers what never became a request: broken syntax, headers too large, a body or headers that came too slowly. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // Node keeps the answer that is due on this socket there.
  const current = (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage;
  if (current?.req.complete === true && !current.headersSent) {
    // What is broken came after a whole request, such as a body longer than was declared. That request is being worked
    // on; to answer it with an error would make its sender send it again.
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
  const phrase = { 400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large" }[status as 400 | 408 | 431];
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: ${jsonType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), 1_000).unref();
}

/** Addresses that belong to the gateway; a plugin that takes one of them would answer in its place. */
function isReserved(path: string, hooksPath: string): boolean {
  return ["/healthz", "/readyz", "/metrics", "/gateway", basePath(hooksPath)].some((own) => isBelow(path, own));
}

const basePath = (path: string): string => path.trim().replace(/^\/*/, "/").replace(/\/+$/, "");
const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

async function listen(
  app: FastifyInstance,
  where: { readonly host: string; readonly port: number },
): Promise<{ readonly host: string; readonly port: number; readonly url: string }> {
  const { host, port } = where;
  try {
    // For the name, fastify opens a second server on ::1, which would know nothing of our limits and our closing.
    await app.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") throw new HostError("port_in_use", { host, port }, { cause });
    throw new HostError("listen_failed", { host, port, reason: reasonOf(cause) }, { cause });
  }
  const bound = app.server.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { host: bound.address, port: bound.port, url: `http://${name}:${bound.port}` };
}
