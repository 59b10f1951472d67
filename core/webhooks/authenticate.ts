/** Who may hand in events: the hook token, and the count of those who do not show it, or sign wrongly. Answers synchronously, so no two requests can race past the count. */
import type { IncomingMessage } from "node:http";
import { type Attempts, type AttemptsOptions, createAttempts, createCredentialName } from "../http/attempts.ts";
import { createTokenCheck, presentedToken } from "../http/credentials.ts";
import { HttpProblem } from "../http/problem.ts";

export interface AuthenticateOptions extends AttemptsOptions {
  /** Read for each request: a changed secret counts from the next one on. */
  readonly token: () => string | undefined;
}

export interface Authenticate extends Attempts {
  /** Judges the token; reads headers only. */
  token(request: IncomingMessage): HttpProblem | undefined;
  /** Whether the token that a request was let in with counts still; counts nothing. */
  trusts(request: IncomingMessage): boolean;
}

const unauthorized = new HttpProblem("unauthorized", "The hook token is missing or wrong.", { "www-authenticate": "Bearer" });

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const attempts = createAttempts(options);
  const isToken = createTokenCheck();
  const nameOf = createCredentialName("hook token");
  return {
    ...attempts,
    trusts: (request) => isToken(presentedToken(request.headers), options.token()),
    token(request) {
      const token = options.token();
      const credential = nameOf(token);
      const locked = attempts.locked(request, credential);
      if (locked !== undefined) return locked;
      if (!isToken(presentedToken(request.headers), token)) return attempts.failed(request, credential, unauthorized);
      attempts.proved(request, credential);
      return undefined;
    },
  };
}
