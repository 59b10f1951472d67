/** Who may hand in events: the hook token, and the count of those who do not show it, or sign wrongly. Answers synchronously, so no two requests can race past the count. */
import type { IncomingMessage } from "node:http";
import {
  type Attempts,
  type AttemptsOptions,
  createAttempts,
  createCredentialName,
  createTokenCheck,
  HttpProblem,
  presentedToken,
} from "../../http/index.ts";

export interface AuthenticateOptions extends AttemptsOptions {
  /** Read for each request: a changed token is valid from the next one on. */
  readonly token: () => string | undefined;
  /** The one that it replaced, for as long as that one is valid too. */
  readonly previousToken?: () => string | undefined;
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
  const isPrevious = createTokenCheck();
  const isPresented = ({ headers }: IncomingMessage): boolean => {
    const token = presentedToken(headers);
    return isToken(token, options.token()) || isPrevious(token, options.previousToken?.());
  };
  const nameOf = createCredentialName("hook token");
  return {
    ...attempts,
    trusts: isPresented,
    token(request) {
      const credential = nameOf(options.token());
      const locked = attempts.locked(request, credential);
      if (locked !== undefined) return locked;
      if (!isPresented(request)) return attempts.failed(request, credential, unauthorized);
      attempts.proved(request, credential);
      return undefined;
    },
  };
}
