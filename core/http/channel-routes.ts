/** Requests of platforms to accounts of channels, below `/channels/`. What answers there changes with the accounts. */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ChannelRequest, RouteAnswer } from "../sdk/contract.ts";
import type { Access } from "./access.ts";
import { askForBody } from "./body.ts";
import { HttpProblem } from "./problem.ts";
import { lastValues, sendAnswer } from "./route.ts";
import { sendProblem } from "./send.ts";

/** A request of a platform, which no account has judged yet. */
export type PostedRequest = Omit<ChannelRequest, "judge">;
/** The same before its body is read. */
export type PostedHead = Omit<PostedRequest, "body">;

/** What answers at an address. */
export interface AnsweringRoute {
  readonly methods: readonly string[];
  readonly maxBytes: number;
  /** Refuses a request by its head. `undefined`: its body is read. */
  refuse(head: PostedHead, raw: IncomingMessage): Promise<RouteAnswer | undefined>;
  answer(request: PostedRequest, raw: IncomingMessage): Promise<RouteAnswer>;
}

export interface ChannelRoutesOptions {
  /** What answers at an address. `rest`: what follows the channel in the path, decoded. */
  readonly find: (channel: string, rest: string) => AnsweringRoute | undefined;
  readonly requireAccess: Access["requireAccess"];
  readonly clientAddress: (request: IncomingMessage) => string;
}

const nothing = new HttpProblem("not_found", "There is nothing at this address.");

/** Platforms call under any host name that they were given; the account judges each caller. */
export function registerChannelRoutes(
  app: FastifyInstance,
  { find, requireAccess, clientAddress }: ChannelRoutesOptions,
): void {
  const answering = new WeakMap<IncomingMessage, AnsweringRoute>();
  const bodyOf = (raw: IncomingMessage) => ({ rawBody: true, maxBodyBytes: answering.get(raw)?.maxBytes ?? 0 });

  /** The problem of a request that no account is to see. */
  async function problemOf({ raw, params, method }: FastifyRequest): Promise<HttpProblem | undefined> {
    const refused = await requireAccess(raw, "public");
    if (refused !== undefined) return refused;
    const { channel = "", "*": rest = "" } = params as Readonly<Record<string, string>>;
    const found = find(channel, rest);
    if (found === undefined) return nothing;
    answering.set(raw, found);
    return found.methods.includes(method)
      ? undefined
      : new HttpProblem("method_not_allowed", "This address requires another method.", {
          allow: found.methods.join(", "),
        });
  }

  app.route({
    method: ["GET", "POST", "PUT", "DELETE"],
    url: "/channels/:channel/*",
    config: { anyHost: true, live: { bodyOf } },
    async onRequest(request, reply) {
      const problem = await problemOf(request);
      if (problem !== undefined) {
        sendProblem(reply, problem);
        return reply;
      }
      const refused = await answering.get(request.raw)?.refuse(headOf(request, clientAddress), request.raw);
      if (refused === undefined) return undefined;
      // Its body is not read.
      return sendAnswer(reply.header("connection", "close"), refused);
    },
    preParsing(request, reply, payload, done) {
      askForBody(request.raw, reply.raw);
      done(null, payload);
    },
    async handler(request, reply) {
      const found = answering.get(request.raw);
      if (found === undefined) throw nothing;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      return sendAnswer(reply, await found.answer({ ...headOf(request, clientAddress), body }, request.raw));
    },
  });
}

function headOf(request: FastifyRequest, clientAddress: (raw: IncomingMessage) => string): PostedHead {
  const { method, url, query, headers, raw } = request;
  return {
    method,
    path: url.split("?", 1)[0] ?? "/",
    query: lastValues(query as Record<string, string | string[]>),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
    ),
    clientAddress: clientAddress(raw),
  };
}
