/** Station 3: which agent, which session, and where the reply goes. */

import { closedWindow } from "../channels/index.ts";
import type { Address, Inbound, Route } from "../contract/index.ts";
import type { Hooks, Visit } from "../stations/index.ts";
import { answersPerson } from "./answer-place.ts";
import { dropped, outsideWindow, type Stop, stopForTap, type Trace } from "./endings/ending.ts";
import { waitFor } from "./patience.ts";
import type { StepDependencies } from "./step-dependencies.ts";

export async function routing(
  inbound: Inbound,
  {
    hooks,
    accounts,
    clock,
    trace,
    visit,
    isDropped,
  }: Pick<StepDependencies, "hooks" | "accounts" | "clock"> & {
    readonly trace: Trace;
    readonly visit: Visit;
    /** Whether an operator has dropped what waits for the account of a recipient. */
    readonly isDropped: (to: Address) => boolean;
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
  if (to !== null) waitFor(() => accounts.away(to.channel, to.account));
  if (to !== null && !answersPerson(inbound, to)) {
    const live = accounts.get(to.channel, to.account);
    const closed = live?.connection.reaches && (await closedWindow(live, to, clock.now()));
    if (closed !== undefined) return outsideWindow(trace, { plugin: to.channel, detail: closed });
  }
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
