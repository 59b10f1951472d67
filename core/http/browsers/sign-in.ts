/** Signs browsers in and out: a code from a link, or the gateway token, becomes a session with a cookie. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GatewayConfig } from "../../config/index.ts";
import type { Access } from "../access.ts";
import { type AttemptsOptions, createAttempts, createCredentialName } from "../attempts.ts";
import { createTokenCheck } from "../credentials.ts";
import { HttpProblem, jsonType } from "../problem.ts";
import { sendProblem } from "../send.ts";
import { sessionCookie, sessionSecret } from "./cookie.ts";
import type { Links } from "./links.ts";
import type { Role } from "./roles.ts";
import { answerHeaders, sameOriginProblem } from "./same-origin.ts";
import { longestMs, type Session, type Sessions } from "./sessions.ts";

export const signInPath = "/gateway/v1/session";

export interface SignInOptions extends AttemptsOptions {
  readonly config: () => GatewayConfig;
  readonly gatewayToken: () => string | undefined;
  readonly sessions: Sessions;
  readonly links: Pick<Links, "take">;
  readonly onSignIn: (session: Session) => void;
}

const link = "console link";
const wrong = new HttpProblem("link_invalid", "The code is wrong, used, or older than a minute.");
const longestBrowser = 120;

export function registerSignIn(
  app: FastifyInstance,
  options: SignInOptions,
  { requireAccess, callerOf }: Pick<Access, "requireAccess" | "callerOf">,
): void {
  const { sessions, links, config } = options;
  const attempts = createAttempts(options);
  const isToken = createTokenCheck();
  const nameOf = createCredentialName("gateway token");

  /**
   * What signs in, and the role that it gives. A code is looked at by its digest, the token in constant time. Their
   * failures are counted apart: who was given a code for looking must not guess the token at leisure.
   */
  function presented(body: unknown): { readonly credential: string; readonly roleOf: () => Role | undefined } {
    const { code, token } = (body ?? {}) as { readonly code?: unknown; readonly token?: unknown };
    if (typeof code === "string") return { credential: link, roleOf: () => links.take(code.trim()) };
    if (typeof token !== "string") return { credential: link, roleOf: () => undefined };
    const isRight = () => isToken(token.trim(), options.gatewayToken());
    return { credential: nameOf(options.gatewayToken()), roleOf: () => (isRight() ? "admin" : undefined) };
  }

  /** `Secure` would keep the cookie from a page on plain http. */
  function isSecure({ headers }: FastifyRequest): boolean {
    const address = URL.parse(config().gateway.publicUrl ?? "");
    // Proxies may add the usual port.
    return address?.protocol === "https:" && URL.parse(`https://${headers.host}`)?.host === address.host;
  }

  function answer(reply: FastifyReply, body: object, cookie?: string): FastifyReply {
    reply.headers({ "content-type": jsonType, ...answerHeaders });
    if (cookie !== undefined) reply.header("set-cookie", cookie);
    return reply.send(JSON.stringify({ ok: true, ...body }));
  }

  async function isRefused(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const problem = (await requireAccess(request.raw, "public")) ?? sameOriginProblem(request.raw);
    if (problem !== undefined) sendProblem(reply, problem);
    return problem !== undefined;
  }

  app.route({
    method: "POST",
    url: signInPath,
    // Before the body is read.
    async onRequest(request, reply) {
      if (await isRefused(request, reply)) return reply;
      const locked = attempts.locked(request.raw, link) && attempts.locked(request.raw, nameOf(options.gatewayToken()));
      if (locked === undefined) return;
      sendProblem(reply, locked);
      return reply;
    },
    async handler(request, reply) {
      const { credential, roleOf } = presented(request.body);
      const locked = attempts.locked(request.raw, credential);
      if (locked !== undefined) throw locked;
      const role = roleOf();
      if (role === undefined) throw attempts.failed(request.raw, credential, wrong);
      attempts.proved(request.raw, credential);
      const browser = (request.headers["user-agent"] ?? "").slice(0, longestBrowser);
      const { secret, session } = await sessions.begin({ role, browser, from: options.clientAddress(request.raw) });
      options.onSignIn(session);
      const cookie = sessionCookie(secret, { secure: isSecure(request), maxAgeSeconds: longestMs / 1_000 });
      return answer(reply, { session }, cookie);
    },
  });
  app.get(signInPath, async (request, reply) => {
    if (await isRefused(request, reply)) return reply;
    const caller = await callerOf(request.raw);
    return answer(reply, { session: caller?.session ?? null });
  });
  app.delete(signInPath, async (request, reply) => {
    if (await isRefused(request, reply)) return reply;
    const secret = sessionSecret(request.raw);
    const session = secret === undefined ? null : await sessions.find(secret);
    if (session !== null) await sessions.revoke(session.id);
    return answer(reply, {}, sessionCookie("", { secure: isSecure(request), maxAgeSeconds: 0 }));
  });
}
