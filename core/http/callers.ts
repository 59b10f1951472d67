/**
 * Checks callers of listeners that channels open themselves. The same limit applies as for the gateway's own routes.
 */
import type { IncomingMessage } from "node:http";
import type { CallerVerdict, RouteAnswer } from "../sdk/contract.ts";
import { type AttemptsOptions, createAttempts } from "./attempts.ts";
import { HttpProblem } from "./problem.ts";

export type JudgeCaller = (request: IncomingMessage, isRight: () => boolean) => CallerVerdict;

const credential = "caller";
const wrong = new HttpProblem("unauthorized", "The secret is missing or wrong.");

/** Creates the check for one listener. Failures at one listener do not affect another. */
export function createJudgeCaller(options: AttemptsOptions): JudgeCaller {
  const attempts = createAttempts(options);
  return (request, isRight) => {
    const refused =
      attempts.locked(request, credential) ?? (isRight() ? undefined : attempts.failed(request, credential, wrong));
    if (refused === undefined) {
      attempts.proved(request, credential);
      return { ok: true };
    }
    const wait = refused.headers?.["retry-after"];
    return wait === undefined
      ? { ok: false, status: 401 }
      : { ok: false, status: 429, retryAfterSeconds: Number(wait) };
  };
}

/** The answer to a caller that is not accepted. */
export function refusalOf(verdict: CallerVerdict): RouteAnswer | undefined {
  if (verdict.ok) return undefined;
  const { status, retryAfterSeconds } = verdict;
  return {
    status,
    ...(retryAfterSeconds !== undefined && { headers: { "retry-after": String(retryAfterSeconds) } }),
  };
}
