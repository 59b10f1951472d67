/** Routes of plugins and of the management API: access, body, schema and response. */
import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { TSchema } from "typebox";
import { product } from "../contract/index.ts";
import type { Json, RouteAccess, RouteAnswer, RouteDefinition, RouteRequest } from "../sdk/contract.ts";
import { type Access, type Caller, signedOut } from "./access.ts";
import { askForBody, checkJsonType, parseJson, readBody } from "./body.ts";
import type { Role } from "./browsers/roles.ts";
import { clientKey } from "./client-address.ts";
import { checkUncompressed } from "./content-encoding.ts";
import type { EventStreams, NumberedEvent } from "./event-stream.ts";
import { HttpProblem, jsonType } from "./problem.ts";
import { sendProblem } from "./send.ts";

const defaultBodyBytes = 262_144;

export interface RouteDeps extends Access {
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly streams: EventStreams;
}

/** Headers with credentials of the gateway itself. Handlers never receive them. */
const ownCredentials: readonly string[] = ["authorization", product.tokenHeader];

/** What a handler of the gateway's own routes receives. */
export interface OwnRequest extends RouteRequest {
  readonly caller: Caller;
}

/** What it answers. `numbered`: events that a client can take up again after a break. */
export interface OwnAnswer extends RouteAnswer {
  readonly numbered?: AsyncIterable<NumberedEvent>;
}

/** A route of the gateway itself. */
export interface OwnRoute extends Omit<RouteDefinition, "handler"> {
  /** A browser that is signed in with this role may call it, too. Absent: no browser may. */
  readonly role?: Role;
  handler(request: OwnRequest): OwnAnswer | Promise<OwnAnswer>;
}

/**
 * What answers at a route now: a plugin that is replaced brings another definition, or none. fastify cannot remove a
 * route.
 */
export interface PluginRoute {
  readonly isOwn?: false;
  current: RouteDefinition | undefined;
}

/** A route of the gateway itself. It alone may let sessions of browsers in, and learns who asks. */
interface GatewayRoute {
  readonly isOwn: true;
  readonly current: OwnRoute;
}

export type LiveRoute = PluginRoute | GatewayRoute;

/** What the server asks of a route before its handler runs. */
export class RouteConfig {
  readonly #route: LiveRoute;

  constructor(route: LiveRoute) {
    this.#route = route;
  }

  get rawBody(): boolean {
    return this.#route.current?.rawBody === true;
  }

  get maxBodyBytes(): number {
    return this.#route.current?.maxBodyBytes ?? defaultBodyBytes;
  }

  /** A public route with a raw body verifies a signature. Platforms call it under any host name they were given. */
  get anyHost(): boolean {
    return this.rawBody && this.#route.current?.access === "public";
  }
}

/** The body of a route that answers for several addresses, with limits of their own. */
interface BodyByRequest {
  bodyOf(request: IncomingMessage): { readonly rawBody: boolean; readonly maxBodyBytes: number };
}

const gone = () => new HttpProblem("not_found", "There is nothing at this address.");

/** Registers one route at `path`, which begins with `/`. */
export function registerRoute(
  app: FastifyInstance,
  { method, path, route }: { readonly method: string; readonly path: string; readonly route: LiveRoute },
  deps: RouteDeps,
): void {
  let compiled: { readonly schema: TSchema; readonly validator: ReturnType<typeof compile> } | undefined;
  app.route({
    method: method as HTTPMethods,
    url: path,
    config: { live: new RouteConfig(route) },
    async onRequest(request, reply) {
      const { current } = route;
      const role = route.isOwn === true ? route.current.role : undefined;
      const problem = current === undefined ? gone() : await deps.requireAccess(request.raw, current.access, role);
      if (problem === undefined) return;
      sendProblem(reply, problem);
      // fastify waits for the end of the response, and runs no handler after it.
      return reply;
    },
    preParsing(request, reply, payload, done) {
      askForBody(request.raw, reply.raw);
      done(null, payload);
    },
    async handler(request, reply) {
      const { isOwn, current: definition } = route;
      if (definition === undefined) throw gone();
      const { access, schema, rawBody = false } = definition;
      if (schema !== undefined) {
        if (compiled?.schema !== schema) compiled = { schema, validator: compile(schema) };
        const { validator } = compiled;
        const body = request.body ?? {};
        const [first] = validator.Check(body) ? [] : validator.Errors(body);
        if (first !== undefined)
          throw new HttpProblem("invalid_payload", `${fieldName(first.instancePath)} ${first.message}.`);
      }
      const asked = toRouteRequest(request, { access, rawBody, clientAddress: deps.clientAddress });
      const answer: OwnAnswer =
        isOwn === true
          ? await definition.handler({ ...asked, caller: await callerNow(request.raw, access, deps) })
          : await definition.handler(asked);
      // A device's access may be revoked while it receives events.
      const stays = access === "device" ? () => deps.mayStay(request.raw) : undefined;
      if (answer.numbered !== undefined) {
        deps.streams.sendNumbered(reply.headers(answer.headers ?? {}), answer.numbered, stays);
        return reply;
      }
      return sendAnswer(reply, answer, (events) => deps.streams.send(reply, events, stays));
    },
  });
}

const anyone: Caller = { name: "an unknown client", role: "view" };

/** Again after the body, which may arrive slowly: a session that was revoked meanwhile does nothing more. */
async function callerNow(
  request: IncomingMessage,
  access: RouteAccess,
  { callerOf }: Pick<Access, "callerOf">,
): Promise<Caller> {
  const caller = await callerOf(request);
  if (caller !== undefined) return caller;
  if (access !== "public") throw signedOut;
  return anyone;
}

/**
 * TypeBox's compiler consists of three hundred modules and 5 MB, so it is loaded with the first request to a route with
 * a schema.
 */
function compile(schema: TSchema) {
  const { Compile } = createRequire(import.meta.url)("typebox/compile") as typeof import("typebox/compile");
  return Compile(schema);
}

/** Converts `/a/0/b` to `a.0.b`; `The body` for an empty path. */
function fieldName(pointer: string): string {
  const name = pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  return name === "" ? "The body" : name;
}

function toRouteRequest(
  request: FastifyRequest,
  options: {
    readonly access: RouteAccess;
    readonly rawBody: boolean;
    readonly clientAddress: (raw: IncomingMessage) => string;
  },
): RouteRequest {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (options.access !== "public" && ownCredentials.includes(name)) continue;
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const clientAddress = options.clientAddress(request.raw);
  return {
    method: request.method,
    path: request.url.split("?", 1)[0] ?? "/",
    params: { ...(request.params as Record<string, string>) },
    query: lastValues(request.query as Record<string, string | string[]>),
    headers,
    body: request.body ?? (options.rawBody ? Buffer.alloc(0) : {}),
    clientAddress,
    client: clientKey(clientAddress),
  };
}

export function lastValues(query: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? (value.at(-1) ?? "") : value]),
  );
}

/** `stream`: sends the events of an answer; absent where there are none. */
export function sendAnswer(
  reply: FastifyReply,
  answer: RouteAnswer,
  stream?: (events: AsyncIterable<Json>) => void,
): FastifyReply {
  reply.code(answer.status ?? 200);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.events !== undefined && stream !== undefined) {
    stream(answer.events);
    return reply;
  }
  const { body } = answer;
  if (body === undefined) {
    reply.removeHeader("content-type");
    return reply.send();
  }
  if (typeof body === "string" || body instanceof Uint8Array || body instanceof Readable) {
    const type = answer.type ?? (typeof body === "string" ? "text/plain; charset=utf-8" : "application/octet-stream");
    return reply.header("content-type", type).send(body instanceof Uint8Array ? Buffer.from(body) : body);
  }
  return reply.header("content-type", answer.type ?? jsonType).send(JSON.stringify(body));
}

/** Parses the body of every route with the same limits and errors as the hook endpoints. */
export function registerBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request, _payload, done) => {
    const { live } = request.routeOptions.config as { readonly live?: RouteConfig | BodyByRequest };
    const { rawBody = false, maxBodyBytes = defaultBodyBytes } =
      (live !== undefined && "bodyOf" in live ? live.bodyOf(request.raw) : live) ?? {};
    if (request.is404) {
      done(null, undefined);
      return;
    }
    const refused = rawBody
      ? undefined
      : (checkUncompressed(request.raw.headers) ?? checkJsonType(request.raw.headers));
    if (refused !== undefined) {
      done(refused);
      return;
    }
    readBody(request.raw, maxBodyBytes, (problem, body) => {
      if (problem !== null) {
        done(problem);
        return;
      }
      try {
        done(null, rawBody ? Buffer.from(body) : parseJson(body));
      } catch (error) {
        done(error as Error);
      }
    });
  });
}
