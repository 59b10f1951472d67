/** Station 1: what came in, whatever its source, becomes one `Inbound`. */
import type { Hooks } from "../hooks.ts";
import type { Unit } from "../state/store.ts";
import type { Inbound } from "../types.ts";
import { type Stop, silentDecision, stopForTap, type Trace } from "./ending.ts";
import type { PathOptions } from "./options.ts";

export async function ingress(
  unit: Unit,
  { hooks, trace, pathsOf }: Pick<PathOptions, "hooks" | "pathsOf"> & { readonly trace: Trace },
): Promise<Inbound | Stop> {
  const [leader] = unit.events;
  if (leader === undefined) throw new Error(`unit ${unit.id} has no event`);
  let answered: Awaited<ReturnType<Hooks["ingress"]>>;
  try {
    answered = await hooks.ingress(leader, unit.events);
  } catch (error) {
    return stopForTap(error, "ingress", trace);
  }
  if (answered === undefined) {
    trace.add("ingress", {
      plugin: "core",
      verdict: "failed",
      code: "no_ingress",
      detail: `Nobody understands events of ${leader.source}.`,
      hint: "Load the plugin that brought it, and have it sent again.",
    });
    return { stop: { outcome: "failed", reason: "no_ingress" } };
  }
  if (answered.value === null || "silent" in answered.value) {
    const silent = answered.value ?? { silent: "nothing_to_do" };
    const at = { channel: leader.source, account: leader.account ?? "" };
    trace.add("ingress", { plugin: answered.plugin, ...silentDecision(silent, pathsOf(at)) });
    return { stop: { outcome: "silent", reason: silent.silent } };
  }
  const inbound = answered.value;
  trace.add("ingress", {
    plugin: answered.plugin,
    verdict: "pass",
    code: inbound.kind,
    detail: describe(inbound, unit),
    ...(inbound.chat.kind === "system" ? {} : { sender: inbound.sender.id }),
  });
  return inbound;
}

/** Who and where, for people who read the trace; never the text. */
function describe(inbound: Inbound, unit: Unit): string {
  const who = inbound.sender.name ?? inbound.sender.id;
  const where = inbound.chat.kind === "direct" ? "a direct chat" : (inbound.chat.title ?? inbound.chat.id);
  const gathered = unit.events.length > 1 ? `, ${unit.events.length} events as one` : "";
  return `${inbound.channel}: ${who} (${inbound.sender.id}) in ${where}${gathered}`;
}
