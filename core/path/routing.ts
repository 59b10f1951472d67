/** Station 3: which agent, which session, and where the reply goes. */

import type { Address, Inbound, Route } from "../contract/index.ts";
import type { Hooks, Visit } from "../stations/index.ts";
import { type Stop, stopForTap, type Trace } from "./endings/ending.ts";
import { Postponed } from "./patience.ts";

export async function routing(
  inbound: Inbound,
  {
    hooks,
    trace,
    visit,
    fallback,
    isAwaited,
  }: {
    readonly hooks: Hooks;
    readonly trace: Trace;
    readonly visit: Visit;
    readonly fallback: (inbound: Inbound) => Route | Promise<Route>;
    readonly isAwaited: (to: Address) => boolean;
  },
): Promise<Route | Stop> {
  let answered: Awaited<ReturnType<Hooks["routing"]>>;
  let route: Route;
  try {
    answered = await hooks.routing(inbound, visit);
    const found = answered?.value ?? fallback(inbound);
    route = found instanceof Promise ? await found : found;
  } catch (error) {
    return stopForTap(error, "routing", trace);
  }
  const { to } = route;
  if (to !== null && isAwaited(to)) {
    // A turn whose reply could not be sent now waits, so that the model is not paid twice.
    const detail = `${to.channel}:${to.account}, where the answer goes, is configured, but not open`;
    throw new Postponed("account_not_open", { detail, path: `channels.${to.channel}` });
  }
  trace.add("routing", {
    plugin: answered?.plugin ?? "core",
    verdict: "pass",
    code: "routed",
    detail: `agent ${route.agentId}, session ${route.sessionKey}, ${route.to === null ? "no recipient" : `to ${route.to.channel}:${route.to.chat}`}`,
  });
  return route;
}
