/** Decides who may call a route. All routes use this check. */
import type { IncomingMessage } from "node:http";
import type { RouteAccess } from "../sdk/contract.ts";
import { type AttemptsOptions, createAttempts, createCredentialName } from "./attempts.ts";
import { sessionSecret } from "./browsers/cookie.ts";
import { includesRole, type Role } from "./browsers/roles.ts";
import { sameOriginProblem } from "./browsers/same-origin.ts";
import type { Session, Sessions } from "./browsers/sessions.ts";
import { createTokenCheck, presentedToken } from "./credentials.ts";
import { HttpProblem } from "./problem.ts";

export interface AccessOptions extends AttemptsOptions {
  /** The current gateway token. Read for each request, so that a new token is valid at once. */
  readonly gatewayToken: () => string | undefined;
  /** The previous gateway token, while it is still valid. */
  readonly previousGatewayToken?: () => string | undefined;
  /** Whether a token belongs to a paired device; absent: there are no devices. Must not throw. */
  readonly deviceToken?: ((token: string) => Promise<boolean>) | undefined;
  /** Absent: no browser can sign in. */
  readonly sessions?: Pick<Sessions, "find"> | undefined;
}

/**
 * Resolves with the problem of a request, or with `undefined` to let it through. `role`: a browser that is signed in
 * with this role is let through as well.
 */
export type RequireAccess = (
  request: IncomingMessage,
  access: RouteAccess,
  role?: Role,
) => Promise<HttpProblem | undefined>;

/** Who sends a request. */
export interface Caller {
  /** For people and for the record of what was done. */
  readonly name: string;
  readonly role: Role;
  /** Absent for holders of a token. */
  readonly session?: Session;
}

export interface Access {
  /** Checks the access of a request. Reads headers only. */
  readonly requireAccess: RequireAccess;
  /**
   * Whether the credentials that opened a device route are still valid, for long-lived responses. Does not count
   * failures.
   */
  mayStay(request: IncomingMessage): Promise<boolean>;
  /**
   * The caller of a request; a paired device only looks. `undefined` if its token or session is not valid, or not any
   * more.
   */
  callerOf(request: IncomingMessage): Promise<Caller | undefined>;
}

export function createAccess(options: AccessOptions): Access {
  const attempts = createAttempts(options);
  const isToken = createTokenCheck();
  const isPrevious = createTokenCheck();
  const isGatewayToken = (token: string | undefined): boolean =>
    isToken(token, options.gatewayToken()) || isPrevious(token, options.previousGatewayToken?.());
  const nameOf = createCredentialName("gateway token");
  /**
   * Synchronous. On device routes it is called after the look-up, so that concurrent guesses cannot outrun the failure
   * count.
   */
  const judgeGateway = (request: IncomingMessage, token: string | undefined): HttpProblem | undefined => {
    const credential = nameOf(options.gatewayToken());
    const locked = attempts.locked(request, credential);
    if (locked !== undefined) return locked;
    if (!isGatewayToken(token)) return attempts.failed(request, credential, unauthorized);
    attempts.proved(request, credential);
    return undefined;
  };
  const sessionOf = async (request: IncomingMessage): Promise<Session | undefined> => {
    const secret = sessionSecret(request);
    return secret === undefined ? undefined : ((await options.sessions?.find(secret)) ?? undefined);
  };
  /** Guesses are not counted: a secret has 256 bits, and a page may go on asking with one that has ended. */
  const judgeSession = async (request: IncomingMessage, needed: Role): Promise<HttpProblem | undefined> => {
    const foreign = sameOriginProblem(request);
    if (foreign !== undefined) return foreign;
    const session = await sessionOf(request);
    if (session === undefined) return signedOut;
    return includesRole(session.role, needed)
      ? undefined
      : new HttpProblem("role_too_low", `The session may only ${session.role}; this needs the role ${needed}.`);
  };
  const requireAccess: RequireAccess = async (request, access, role) => {
    if (isForeignOrigin(request))
      return new HttpProblem("origin_refused", "Requests from other web pages are refused.");
    if (access === "public") return undefined;
    const token = presentedToken(request.headers);
    if (role !== undefined && token === undefined) return await judgeSession(request, role);
    if (access !== "device" || token === undefined || options.deviceToken === undefined)
      return judgeGateway(request, token);
    if (attempts.locked(request, device) !== undefined) return judgeGateway(request, token);
    if (!(await options.deviceToken(token))) return judgeGateway(request, token);
    attempts.proved(request, device);
    return undefined;
  };
  return {
    requireAccess,
    async mayStay(request) {
      const token = presentedToken(request.headers);
      if (isGatewayToken(token)) return true;
      if (token === undefined) return (await sessionOf(request)) !== undefined;
      return (await options.deviceToken?.(token)) === true;
    },
    async callerOf(request) {
      const token = presentedToken(request.headers);
      if (isGatewayToken(token)) return { name: "the gateway token", role: "admin" };
      if (token !== undefined)
        return (await options.deviceToken?.(token)) === true ? { name: "a paired device", role: "view" } : undefined;
      const session = await sessionOf(request);
      return session && { name: `console session ${session.id}`, role: session.role, session };
    },
  };
}

/** All device tokens are one kind of credential: they are random, and each is looked up by its name. */
const device = "device token";

export const signedOut = new HttpProblem(
  "session_missing",
  "This needs the gateway token, or a browser that is signed in.",
);

const unauthorized = new HttpProblem("unauthorized", "The gateway token is missing or wrong.", {
  "www-authenticate": "Bearer",
});

/** Detects pages of other sites: in a browser on this machine, they must not reach a route that needs no token. */
function isForeignOrigin(request: IncomingMessage): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return false;
  const page = URL.parse(origin);
  // Browsers leave out the usual port, and proxies may add it: as `$host:$server_port` of nginx does.
  return page === null || host === undefined || URL.parse(`${page.protocol}//${host}`)?.host !== page.host;
}
