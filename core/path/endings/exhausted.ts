/** The end of a unit that used up its attempts, such as one that kills the process. */

import type { Route } from "../../contract/index.ts";
import type { Ending } from "../../state/index.ts";
import type { Trace } from "./ending.ts";

export const exhausted = "attempts_exhausted";

/** After this many failed attempts, an event fails permanently; it is kept and listed. */
export const maxAttempts = 3;

export function exhaustedEnding(
  trace: Trace,
  { attempts, route }: { readonly attempts: number; readonly route: Route | undefined },
): Ending {
  trace.add("accept", {
    plugin: "core",
    verdict: "failed",
    code: exhausted,
    detail: `${attempts} attempts did not end`,
  });
  const place = route === undefined ? {} : { sessionKey: route.sessionKey, agentId: route.agentId };
  return { outcome: "failed", reason: exhausted, ...place };
}
