/** The option `retry` of an account: how often something is retried, and after which waits. */

export interface RetryPolicy {
  readonly attempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** Random share of each wait. */
  readonly jitter: number;
}

const usual: RetryPolicy = { attempts: 3, minDelayMs: 400, maxDelayMs: 30_000, jitter: 0.1 };

/** The retry policy in an account's options; a channel without a `retry` option uses the default one. */
export function retryPolicy(options: Readonly<Record<string, unknown>> | undefined): RetryPolicy {
  const set = options?.retry;
  return typeof set === "object" && set !== null ? { ...usual, ...(set as Partial<RetryPolicy>) } : usual;
}

/** Milliseconds before the attempt after this one (the first is 1): doubles up to the maximum. */
export function waitBefore(attempt: number, policy: RetryPolicy, random: () => number): number {
  const delay = Math.min(policy.minDelayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  return delay * (1 + policy.jitter * (2 * random() - 1));
}

/** Minimum wait between attempts that never stop. */
const leastMs = 100;

/**
 * The wait for retries without a limit on their number: after an outage of five seconds a send is ten seconds late, not
 * thirty.
 */
export function unlimitedRetryWait(attempt: number, policy: RetryPolicy, random: () => number): number {
  return Math.max(leastMs, waitBefore(attempt, policy, random));
}

/** Resolves with `false` if the signal ended the wait. */
export function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const end = (finished: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(finished);
    };
    const onAbort = () => end(false);
    const timer = setTimeout(() => end(true), ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
