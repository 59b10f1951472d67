/** Station 3: which agent, which session, and where the reply goes. */

import type { AwayAccount } from "../channels/index.ts";
import type { Address, Inbound, Route } from "../contract/index.ts";
import type { Hooks, Visit } from "../stations/index.ts";
import { dropped, type Stop, stopForTap, type Trace } from "./endings/ending.ts";
import { waitFor } from "./patience.ts";

export async function routing(
  inbound: Inbound,
  {
    hooks,
    trace,
    visit,
    awayFrom,
    isDropped,
  }: {
    readonly hooks: Hooks;
    readonly trace: Trace;
    readonly visit: Visit;
    /** Whether an operator has dropped what waits for the account of a recipient. */
    readonly isDropped: (to: Address) => boolean;
    /** Why the account of a recipient cannot be used now. */
    readonly awayFrom: (to: Address) => AwayAccount | undefined;
  },
): Promise<Route | Stop> {
  let answered: Awaited<ReturnType<Hooks["routing"]>>;
  try {
    answered = await hooks.routing(inbound, visit);
  } catch (error) {
    return stopForTap(error, "routing", trace);
  }
  if (answered === undefined) throw new Error("no tap of the station routing has answered");
  const { plugin, value: route } = answered;
  const { to } = route;
  if (to !== null && isDropped(to)) return dropped(trace);
  // A turn whose reply could not be sent now waits, so that the model is not paid twice.
  if (to !== null) waitFor(() => awayFrom(to));
  trace.add("routing", {
    plugin,
    verdict: "pass",
    code: "routed",
    detail:
      `agent ${route.agentId}, session ${route.sessionKey}, ` +
      `${route.to === null ? "no recipient" : `to ${route.to.channel}:${route.to.chat}`}`,
  });
  return route;
}
