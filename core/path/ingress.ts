/** Station 1: turns an event of any source into one `Inbound`. */

import type { Inbound } from "../contract/index.ts";
import type { StoredEvent, Unit } from "../state/index.ts";
import { type Hooks, notes } from "../stations/index.ts";
import { type Stop, silentDecision, stopForTap } from "./endings/ending.ts";
import type { StepDependencies, Walk } from "./step-dependencies.ts";

export async function ingress(
  { hooks, gate }: Pick<StepDependencies, "hooks" | "gate">,
  { unit, trace, visit }: Pick<Walk, "unit" | "trace" | "visit">,
): Promise<Inbound | Stop> {
  const [leader] = unit.events;
  if (leader === undefined) throw new Error(`unit ${unit.id} has no event`);
  let answered: Awaited<ReturnType<Hooks["ingress"]>>;
  try {
    answered = await hooks.ingress(leader, unit.events, visit);
  } catch (error) {
    return stopForTap(error, "ingress", trace);
  }
  if (answered === undefined) {
    trace.add("ingress", {
      plugin: "core",
      verdict: "failed",
      code: "no_ingress",
      ...notUnderstood(leader),
    });
    return { stop: { outcome: "failed", reason: "no_ingress" } };
  }
  if (answered.value === null || "silent" in answered.value) {
    const silent = answered.value ?? { silent: "nothing_to_do" };
    const at = { channel: leader.source, account: leader.account ?? "" };
    trace.add("ingress", { plugin: answered.plugin, ...silentDecision(silent, gate.pathsOf(at)) });
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
  for (const note of visit.get(notes) ?? []) trace.add("ingress", { plugin: "core", verdict: "pass", ...note });
  return inbound;
}

/** Distinguishes junk for an open channel from an event that nothing here can read. */
function notUnderstood({ source, account = "", authority }: StoredEvent): {
  readonly detail: string;
  readonly hint: string;
} {
  if (authority !== "channel") {
    return {
      detail: `No plugin reads events of ${source}.`,
      hint: "Load the plugin that the event came from, then have it sent again.",
    };
  }
  const at = account === "" ? `channel ${source}` : `account ${account} of the channel ${source}`;
  return {
    detail:
      `The ${at} does not recognize the event: it is not an update of the platform, or one of an ` +
      "unsupported kind.",
    hint: "No setting changes that, and no message of a supported kind was lost.",
  };
}

/** Sender and place, for readers of the trace; never the text. */
function describe(inbound: Inbound, unit: Unit): string {
  const who = inbound.sender.name ?? inbound.sender.id;
  const where = inbound.chat.kind === "direct" ? "a direct chat" : (inbound.chat.title ?? inbound.chat.id);
  const gathered = unit.events.length > 1 ? `, ${unit.events.length} events as one` : "";
  return `${inbound.channel}: ${who} (${inbound.sender.id}) in ${where}${gathered}`;
}
