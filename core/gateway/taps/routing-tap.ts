/** The route of every message for which no plugin has another one: the agent by bindings, and where its reply goes. */
import type { Router } from "../../agents/index.ts";
import type { Hooks } from "../../stations/index.ts";

/** Longer than a channel may take to look a recipient up, whose own deadline says what went wrong. */
const deadlineMs = 45_000;

export function tapRouting(hooks: Hooks, { router }: { readonly router: Pick<Router, "route"> }): void {
  hooks.tap("core", "routing", (inbound) => router.route(inbound), { order: "late", deadlineMs });
}
