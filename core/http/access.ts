/** The one place that decides who may call a route. */
import type { IncomingMessage } from "node:http";
import type { RouteAccess } from "../sdk.ts";
import { clientKey } from "./client-address.ts";
import { createTokenCheck, presentedToken } from "./credentials.ts";
import { createFailureLimit } from "./failure-limit.ts";
import { HttpProblem } from "./problem.ts";

export interface AccessOptions {
  readonly now: () => number;
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Read for each request: a new token counts from the next one on. */
  readonly gatewayToken: () => string;
  /** Whether a device has this token; absent: there are no devices. Must not throw. */
  readonly deviceToken?: ((token: string) => boolean | Promise<boolean>) | undefined;
}

/** The problem of a request, or `undefined` to let it through. A promise only where a device has to be looked up. */
export type RequireAccess = (request: IncomingMessage, access: RouteAccess) => HttpProblem | undefined | Promise<HttpProblem | undefined>;

export interface Access {
  /** Reads headers only. */
  readonly requireAccess: RequireAccess;
  /** Whether what opened a route for devices opens it still: for answers that go on. Counts no failure. */
  mayStay(request: IncomingMessage): Promise<boolean>;
}

export function createAccess(options: AccessOptions): Access {
  const failures = createFailureLimit({ now: options.now });
  const isGatewayToken = createTokenCheck();
  const judged = (request: IncomingMessage, good: boolean): HttpProblem | undefined => {
    if (good) {
      if (!failures.isEmpty()) failures.clear(clientKey(options.clientAddress(request)));
      return undefined;
    }
    const { wait } = failures.fail(clientKey(options.clientAddress(request)));
    if (wait > 0) {
      return new HttpProblem("rate_limited", "Too many failed attempts; wait before the next one.", { "retry-after": String(wait) });
    }
    return new HttpProblem("unauthorized", "The gateway token is missing or wrong.", { "www-authenticate": "Bearer" });
  };
  const requireAccess: RequireAccess = (request, access) => {
    if (isForeignOrigin(request)) return new HttpProblem("origin_refused", "Requests from other web pages are refused.");
    if (access === "public") return undefined;
    const token = presentedToken(request.headers);
    if (isGatewayToken(token, options.gatewayToken())) return judged(request, true);
    if (access !== "device" || token === undefined || options.deviceToken === undefined) return judged(request, false);
    const known = options.deviceToken(token);
    return typeof known === "boolean" ? judged(request, known) : known.then((good) => judged(request, good));
  };
  return {
    requireAccess,
    async mayStay(request) {
      const token = presentedToken(request.headers);
      if (isGatewayToken(token, options.gatewayToken())) return true;
      return token !== undefined && (await options.deviceToken?.(token)) === true;
    },
  };
}

/** A page of another site that a browser on this machine has open must not reach a route that needs no token. */
function isForeignOrigin(request: IncomingMessage): boolean {
  const origin = request.headers.origin;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== request.headers.host?.toLowerCase();
}
