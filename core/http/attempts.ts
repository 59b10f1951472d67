/** Limits failed authentication attempts. Tokens, signatures and platform secrets share one limit. */
import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { clientKey } from "./client-address.ts";
import { createFailureLimit } from "./failure-limit.ts";
import { HttpProblem } from "./problem.ts";

export interface Attempts {
  /** Returns a 429 problem while this client may not try the credential; otherwise `undefined`. Reads headers only. */
  locked(request: IncomingMessage, credential: string): HttpProblem | undefined;
  /** Counts a failure. Returns `problem`, or a 429 problem if the client has failed too often. */
  failed(request: IncomingMessage, credential: string, problem: HttpProblem): HttpProblem;
  /** Clears the client's failures with this credential only. */
  proved(request: IncomingMessage, credential: string): void;
}

export interface AttemptsOptions {
  /** A monotonic clock, in milliseconds. A jump of the wall clock must neither end nor extend a lock. */
  readonly elapsed: () => number;
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Called once for each client and window when its failures are first answered with 429, and once when the client is locked. */
  readonly onLimited?: (client: string, retryAfterSeconds: number, options: { readonly locked: boolean }) => void;
}

export function createAttempts({ elapsed, clientAddress, onLimited }: AttemptsOptions): Attempts {
  const failures = createFailureLimit({ now: elapsed });
  const clientOf = (request: IncomingMessage): string => clientKey(clientAddress(request));
  return {
    locked(request, credential) {
      if (failures.isEmpty()) return undefined;
      const wait = failures.locked(clientOf(request), credential);
      return wait === 0 ? undefined : tooMany(wait);
    },
    failed(request, credential, problem) {
      const client = clientOf(request);
      const { wait, first, lock } = failures.fail(client, credential);
      if (wait === 0) return problem;
      if (first || lock) onLimited?.(client, wait, { locked: lock });
      return tooMany(wait);
    },
    proved(request, credential) {
      failures.succeed(clientOf(request), credential);
    },
  };
}

function tooMany(seconds: number): HttpProblem {
  return new HttpProblem("rate_limited", "Too many failed attempts; wait before the next one.", { "retry-after": String(seconds) });
}

/** Names a credential by its kind and secret. After a rotation, knowing the old secret does not count as knowing the new one. */
export function createCredentialName(kind: string): (secret: string | undefined) => string {
  let known: string | undefined;
  let name = kind;
  return (secret) => {
    if (secret === known) return name;
    known = secret;
    name = secret === undefined ? kind : `${kind}:${hash("sha256", secret)}`;
    return name;
  };
}
