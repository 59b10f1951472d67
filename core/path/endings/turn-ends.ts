/** How a turn ends that has no reply: failed, or refused by a budget. */
import type { Inbound, Route } from "../../contract/index.ts";
import type { ToolUse } from "../../stations/index.ts";
import type { PathOptions } from "../options.ts";
import { endedText, endNotes, type ShownText } from "../shown-text.ts";
import { apologyTo, withDone } from "./apology.ts";
import { type Stop, sayToSender } from "./ending.ts";

/** Text that people have read stays, with a note that says why it ends there. */
export function withShown(stop: Stop, seen: ReturnType<ShownText["last"]> | undefined, note: string): Stop {
  if (seen === undefined || seen.text === "") return stop;
  const shown = { ...stop, shown: endedText(seen.text, note) };
  // The model need not read the apology.
  const inConversation = stop.stop.outcome === "silent" ? note : endNotes.failed;
  return seen.spoken.trim() === "" ? shown : { ...shown, spoken: endedText(seen.spoken, inConversation) };
}

/** The end of a turn that failed, with an apology where a person waits. */
export async function failed(
  reason: string,
  inbound: Inbound,
  {
    route: { to },
    isOwner,
    uses,
    onlySender,
    numbers,
  }: {
    readonly route: Route;
    readonly onlySender?: boolean;
    readonly numbers?: Readonly<Record<string, number>> | undefined;
    readonly isOwner: PathOptions["gate"]["isOwner"];
    readonly uses?: readonly ToolUse[] | undefined;
  },
): Promise<Stop> {
  const stop = { outcome: "failed", reason } as const;
  const forSender = onlySender === true ? inbound : undefined;
  const say = apologyTo(reason, { inbound, to, uses, isOwner: await isOwner(inbound), forSender, numbers });
  return say === undefined ? { stop } : { stop, say };
}

/** Reason of an engine's error: a budget has no room for the call. */
export const overBudget = "budget_exceeded";

/** A heartbeat that a budget refuses is silent. Its events wait for the next one, as after a failure. */
export async function refused(
  inbound: Inbound,
  route: Route,
  {
    refusalFor,
    react,
    uses,
  }: Pick<PathOptions["agents"], "refusalFor"> & {
    /** Sets a reaction on the message; `false` if it cannot. */
    readonly react: (emoji: string) => Promise<boolean>;
    readonly uses: readonly ToolUse[] | undefined;
  },
): Promise<Stop> {
  const stop = {
    outcome: inbound.request?.heartbeat === undefined ? "refused" : "silent",
    reason: overBudget,
  } as const;
  const { to } = route;
  const sign = to === null ? undefined : await refusalFor(inbound, route);
  if (sign === undefined || to === null) return { stop };
  if (sign.emoji !== undefined && (await react(sign.emoji))) return { stop };
  return { stop, say: sayToSender(withDone(sign.text, uses), to, inbound) };
}
