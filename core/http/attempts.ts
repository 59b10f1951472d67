/** Limits failed authentication attempts. Tokens, signatures and platform secrets share one limit. */
import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { clientKey } from "./client-address.ts";
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
  /**
   * Called once for each client and window when its failures are first answered with 429, and once when the client is
   * locked.
   */
  readonly onLimited?: (client: string, retryAfterSeconds: number, options: { readonly locked: boolean }) => void;
}

export function createAttempts({ elapsed, clientAddress, onLimited }: AttemptsOptions): Attempts {
  const failures = createFailureLimit(elapsed);
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
  return new HttpProblem("rate_limited", "Too many failed attempts; wait before the next one.", {
    "retry-after": String(seconds),
  });
}

/**
 * Names a credential by its kind and secret. After a rotation, knowing the old secret does not count as knowing the new
 * one.
 */
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

interface FailureLimit {
  /**
   * Whole seconds until the client's window ends, when it has failed so often that this credential must not be
   * compared; else 0. A client that succeeded with the credential in the last hour is never locked out of it.
   */
  locked(client: string, credential: string): number;
  /**
   * Counts one failure. `wait`: 0 while the client is within its budget, else the whole seconds until its window ends.
   * `first`: this failure is the first beyond the budget. `lock`: from now on nothing of the client is compared.
   */
  fail(client: string, credential: string): { readonly wait: number; readonly first: boolean; readonly lock: boolean };
  /** Clears the failures of this credential alone, and remembers the success for an hour. */
  succeed(client: string, credential: string): void;
  /** True while no client has failed: then none is locked out, and no address has to be determined. */
  isEmpty(): boolean;
}

interface Window {
  readonly until: number;
  total: number;
  readonly counts: Map<string, number>;
}

const within = { wait: 0, first: false, lock: false } as const;
/** In one window; the failures beyond are answered 429. */
const allowedFailures = 20;
/** Failures in one window after which nothing of the client is compared. */
const lockAfter = 200;
const windowMs = 60_000;
const maxClients = 10_000;
const trustMs = 3_600_000;
/** A success is written down again only after this time: a busy client costs one look-up for each request. */
const renewMs = 60_000;

/**
 * Counts failed authentications for each client, in fixed windows. Both tables are bounded: the oldest entry is removed
 * first. A credential is named by its kind and its secret, so a success with one neither clears nor excuses guesses at
 * another.
 */
function createFailureLimit(now: () => number): FailureLimit {
  // Insertion order is the order of time in both, so the first entry is always the oldest.
  const windows = new Map<string, Window>();
  const successes = new Map<string, Map<string, number>>();
  const secondsLeft = ({ until }: Window, at: number): number => Math.max(1, Math.ceil((until - at) / 1_000));

  return {
    locked(client, credential) {
      const window = windows.get(client);
      if (window === undefined || window.total < lockAfter) return 0;
      const at = now();
      if (at >= window.until) return 0;
      const succeeded = successes.get(client)?.get(credential);
      return succeeded !== undefined && at - succeeded <= trustMs ? 0 : secondsLeft(window, at);
    },
    fail(client, credential) {
      const at = now();
      const known = windows.get(client);
      if (known !== undefined && at < known.until) {
        known.total += 1;
        known.counts.set(credential, (known.counts.get(credential) ?? 0) + 1);
        if (known.total <= allowedFailures) return within;
        return {
          wait: secondsLeft(known, at),
          first: known.total === allowedFailures + 1,
          lock: known.total === lockAfter,
        };
      }
      windows.delete(client);
      dropOldest(windows, maxClients);
      windows.set(client, { until: at + windowMs, total: 1, counts: new Map([[credential, 1]]) });
      return within;
    },
    succeed(client, credential) {
      const at = now();
      const own = successes.get(client);
      const before = own?.get(credential);
      if (before === undefined || at - before >= renewMs) {
        // A replaced secret is dropped an hour after its last success.
        const recent = [...(own ?? [])].filter(([, succeeded]) => at - succeeded <= trustMs);
        successes.delete(client);
        dropOldest(successes, maxClients);
        successes.set(client, new Map([...recent, [credential, at]]));
      }
      const window = windows.get(client);
      if (window === undefined) return;
      window.total -= window.counts.get(credential) ?? 0;
      window.counts.delete(credential);
      if (window.total === 0) windows.delete(client);
    },
    isEmpty() {
      return windows.size === 0;
    },
  };
}

function dropOldest(table: Map<string, unknown>, max: number): void {
  if (table.size < max) return;
  const [oldest] = table.keys();
  if (oldest !== undefined) table.delete(oldest);
}
