/**
 * Checks the hook token, and counts failed attempts: wrong or missing tokens and wrong signatures. It works
 * synchronously, so no two requests can race past the count.
 */
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
  /** Read for each request, so a changed token is valid from the next one on. */
  readonly token: () => string | undefined;
  /** The previous token, while it is still valid. */
  readonly previousToken?: () => string | undefined;
}

export interface Authenticate extends Attempts {
  /** Checks the token; reads headers only. */
  token(request: IncomingMessage): HttpProblem | undefined;
  /** The valid token that the request presents. `undefined` if it presents none, or one that is no longer valid. */
  presented(request: IncomingMessage): string | undefined;
  /** Whether the token with which a request was authorized is still valid. Does not count as an attempt. */
  trusts(request: IncomingMessage): boolean;
}

const unauthorized = new HttpProblem("unauthorized", "The hook token is missing or wrong.", {
  "www-authenticate": "Bearer",
});

/** No credential is compared, so none can be guessed, and the request does not count as an attempt. */
const noToken = new HttpProblem(
  "hook_token_unset",
  "This address needs the hook token, and none is set: only hooks with a signature or token of their own are served.",
);

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const attempts = createAttempts(options);
  const isToken = createTokenCheck();
  const isPrevious = createTokenCheck();
  const presented = ({ headers }: IncomingMessage): string | undefined => {
    const given = presentedToken(headers);
    const token = options.token();
    if (isToken(given, token)) return token;
    const previous = options.previousToken?.();
    return isPrevious(given, previous) ? previous : undefined;
  };
  const isPresented = (request: IncomingMessage): boolean => presented(request) !== undefined;
  const nameOf = createCredentialName("hook token");
  return {
    ...attempts,
    presented,
    trusts: isPresented,
    token(request) {
      const token = options.token();
      if (token === undefined) return noToken;
      const credential = nameOf(token);
      const locked = attempts.locked(request, credential);
      if (locked !== undefined) return locked;
      if (!isPresented(request)) return attempts.failed(request, credential, unauthorized);
      attempts.proved(request, credential);
      return undefined;
    },
  };
}
