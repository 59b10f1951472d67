/** Who may hand in events: the hook token, and the count of those who do not show it, or sign wrongly. Answers synchronously, so no two requests can race past the count. */
import type { IncomingMessage } from "node:http";
import { clientKey } from "../http/client-address.ts";
import { createTokenCheck, presentedToken } from "../http/credentials.ts";
import { createFailureLimit } from "../http/failure-limit.ts";
import { HttpProblem } from "../http/problem.ts";

export interface AuthenticateOptions {
  readonly now: () => number;
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Read for each request: a changed secret counts from the next one on. */
  readonly token: () => string | undefined;
  /** Called once for each client and window, when it begins to be refused. */
  readonly onLimited?: (client: string, retryAfterSeconds: number) => void;
}

export interface Authenticate {
  /** Judges the token; reads headers only. */
  token(request: IncomingMessage): HttpProblem | undefined;
  /** Whether the token that a request was let in with counts still; counts nothing. */
  trusts(request: IncomingMessage): boolean;
  /** Counts a failure of whichever kind; answers `problem`, or that the client has failed too often. */
  failed(request: IncomingMessage, problem: HttpProblem): HttpProblem;
  /** Who knows a secret is served at any time, even from an address that others have used up. */
  proved(request: IncomingMessage): void;
}

const unauthorized = new HttpProblem("unauthorized", "The hook token is missing or wrong.", { "www-authenticate": "Bearer" });

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const failures = createFailureLimit({ now: options.now });
  const isToken = createTokenCheck();
  const authenticate: Authenticate = {
    trusts: (request) => isToken(presentedToken(request.headers), options.token()),
    token(request) {
      if (!authenticate.trusts(request)) return authenticate.failed(request, unauthorized);
      authenticate.proved(request);
      return undefined;
    },
    failed(request, problem) {
      const client = clientKey(options.clientAddress(request));
      const { wait, first } = failures.fail(client);
      if (wait === 0) return problem;
      if (first) options.onLimited?.(client, wait);
      return new HttpProblem("rate_limited", "Too many failed attempts; wait before the next one.", { "retry-after": String(wait) });
    },
    proved(request) {
      if (!failures.isEmpty()) failures.clear(clientKey(options.clientAddress(request)));
    },
  };
  return authenticate;
}
