/** Station 2: pass, or the first refusal. Nothing with a side effect happens before it. */

import type { Inbound } from "../contract/index.ts";
import { passedBy } from "../stations/index.ts";
import { placeOf } from "./endings/apology.ts";
import { type Stop, sayToSender } from "./endings/ending.ts";
import { waitFor } from "./patience.ts";
import type { StepDependencies, Walk } from "./step-dependencies.ts";

export async function gating(
  { hooks, accounts }: Pick<StepDependencies, "hooks" | "accounts">,
  { trace, visit }: Pick<Walk, "trace" | "visit">,
  inbound: Inbound,
): Promise<Stop | undefined> {
  const refused = await hooks.gating(inbound, visit);
  if (refused === undefined) {
    const { code, path } = visit.get(passedBy) ?? { code: "allowed" };
    trace.add("gating", { plugin: "core", verdict: "pass", code, path });
    return undefined;
  }
  // Its account was closed a moment ago, and with it the lists that might have admitted the sender.
  if (inbound.authority === "channel") waitFor(() => accounts.away(inbound.channel, inbound.account));
  const { code, detail, path, hint, notice, outcome = "refused" } = refused.value;
  trace.add("gating", {
    plugin: refused.plugin,
    verdict: outcome,
    code,
    detail,
    path,
    hint,
  });
  const stop = { outcome, reason: code } as const;
  return notice === undefined ? { stop } : { stop, say: sayToSender(notice, placeOf(inbound), inbound) };
}
