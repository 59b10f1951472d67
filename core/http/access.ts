/** Decides who may call a route. All routes use this check. */
import type { IncomingMessage } from "node:http";
import type { RouteAccess } from "../sdk/contract.ts";
import { type AttemptsOptions, createAttempts, createCredentialName } from "./attempts.ts";
import { createTokenCheck, presentedToken } from "./credentials.ts";
import { HttpProblem } from "./problem.ts";

export interface AccessOptions extends AttemptsOptions {
  /** The current gateway token. Read for each request, so that a new token is valid at once. */
  readonly gatewayToken: () => string | undefined;
  /** The previous gateway token, while it is still valid. */
  readonly previousGatewayToken?: () => string | undefined;
  /** Whether a token belongs to a paired device; absent: there are no devices. Must not throw. */
  readonly deviceToken?: ((token: string) => Promise<boolean>) | undefined;
}

/**
 * Returns the problem of a request, or `undefined` to let it through. Returns a promise only if a device token must be
 * looked up.
 */
export type RequireAccess = (
  request: IncomingMessage,
  access: RouteAccess,
) => HttpProblem | undefined | Promise<HttpProblem | undefined>;

export interface Access {
  /** Checks the access of a request. Reads headers only. */
  readonly requireAccess: RequireAccess;
  /**
   * Whether the credentials that opened a device route are still valid, for long-lived responses. Does not count
   * failures.
   */
  mayStay(request: IncomingMessage): Promise<boolean>;
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
  const requireAccess: RequireAccess = (request, access) => {
    if (isForeignOrigin(request))
      return new HttpProblem("origin_refused", "Requests from other web pages are refused.");
    if (access === "public") return undefined;
    const token = presentedToken(request.headers);
    if (access !== "device" || token === undefined || options.deviceToken === undefined)
      return judgeGateway(request, token);
    if (attempts.locked(request, device) !== undefined) return judgeGateway(request, token);
    const judged = (known: boolean): HttpProblem | undefined => {
      if (!known) return judgeGateway(request, token);
      attempts.proved(request, device);
      return undefined;
    };
    return options.deviceToken(token).then(judged);
  };
  return {
    requireAccess,
    async mayStay(request) {
      const token = presentedToken(request.headers);
      if (isGatewayToken(token)) return true;
      return token !== undefined && (await options.deviceToken?.(token)) === true;
    },
  };
}

/** All device tokens are one kind of credential: they are random, and each is looked up by its name. */
const device = "device token";

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
