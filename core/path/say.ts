/** Writes the end of a turn in one commit: outbox, transcript, and the events that follow. */
import type { Inbound, Reply, Route } from "../contract/index.ts";
import type { Ending } from "../state/index.ts";
import { toolCalls, type Visit } from "../stations/index.ts";
import { admission } from "./admission.ts";
import { isAt } from "./answer-place.ts";
import { isPersonal } from "./endings/apology.ts";
import { textReply } from "./endings/ending.ts";
import { isUnread, reportLeftOut } from "./endings/unread.ts";
import { removals, type Saying } from "./formatting.ts";
import type { Presence } from "./presence/presence.ts";
import { endNotes } from "./shown-text.ts";
import type { StepDependencies, Walk } from "./step-dependencies.ts";
import type { UnitResult } from "./unit-result.ts";

/** A message that a model did not take would be in the way of every later turn. */
const aboutMessage: ReadonlySet<string> = new Set([
  "model_refused",
  "model_context_full",
  "model_takes_no_files",
  "attempts_exhausted",
]);

function noteOf(reason: string): string {
  if (reason === "stopped") return endNotes.stopped;
  return reason === "attempts_exhausted" ? endNotes.interrupted : endNotes.failed;
}

/** What stays in the conversation in place of a reply: what a tool did, and what a person is waiting for. */
function leftBy(
  { outcome, reason }: Ending,
  { inbound, visit }: { readonly inbound: Inbound; readonly visit: Visit },
): Reply | undefined {
  const hasUsed = (visit.get(toolCalls) ?? []).some(({ summary }) => summary !== undefined);
  const isAwaited = outcome === "failed" && isPersonal(inbound) && !aboutMessage.has(reason);
  return hasUsed || isAwaited ? textReply(noteOf(reason)) : undefined;
}

/** If there is nothing to say, nothing is written yet. */
export async function say(
  dependencies: StepDependencies,
  { unit, trace, visit, signal, place }: Walk,
  result: {
    readonly ending: Ending;
    readonly sayings: readonly Saying[];
    readonly inbound?: Inbound;
    readonly route?: Route;
    readonly reply?: Reply;
    readonly presence?: Presence;
    /** What people have read of a reply that was interrupted. */
    readonly spoken?: string | undefined;
  },
): Promise<UnitResult> {
  const { store, agents, accounts } = dependencies;
  const { inbound, route, reply, presence, spoken } = result;
  const at = dependencies.clock.now();
  // A turn that replies in the same place reuses an earlier attempt's preview; otherwise the preview is removed.
  const { preview } = unit;
  const left =
    preview !== undefined && !(route?.to && isAt(preview, route.to))
      ? removals(preview.messageIds, preview.address)
      : undefined;
  const sayings = left === undefined ? result.sayings : [...result.sayings, ...left];
  const [first] = sayings;
  const hasFiles = first !== undefined && reply !== undefined && reply.media.length > 0;
  const files = hasFiles ? await dependencies.files.keep(unit.id, reply) : undefined;
  const sends = first === undefined || files?.bound === true || dependencies.sendsTo(first.address);
  const here = sends === true || (await sends);
  const unsent = inbound === undefined || reply !== undefined ? undefined : leftBy(result.ending, { inbound, visit });
  const recorded = reply ?? (spoken === undefined ? unsent : textReply(spoken));
  // The next turn reads again what an interrupted one has read besides its message.
  const isRead = reply !== undefined;
  const messages =
    inbound === undefined || route === undefined || recorded === undefined || place?.isOver === true
      ? []
      : agents.transcript({ inbound, route, reply: recorded, visit, at, withContext: isRead });
  const tookQueued = agents.tookQueued(visit);
  const unread =
    inbound !== undefined &&
    (isUnread(result.ending, inbound, reply) || (tookQueued && !(isRead && messages.length > 0)));
  const ending: Ending = unread ? { ...result.ending, unread } : result.ending;
  const followUps =
    inbound === undefined || route === undefined
      ? []
      : agents.followUps({ inbound, route, ending, unitId: unit.id, reply });
  const accepted = followUps.map((event) => dependencies.receive(event, { follows: true }));
  const isOpen = first === undefined || accounts.get(first.address.channel, first.address.account) !== undefined;
  const admitted = first === undefined || !here ? undefined : admission(first, { account: accounts.get, signal });
  const saying =
    sayings.length === 0 && messages.length === 0
      ? []
      : store.say({
          unitId: unit.id,
          at,
          rows: sayings,
          ...(admitted === undefined && here && isOpen ? {} : { first: "waiting" as const }),
          ...(tookQueued ? { tookQueued } : {}),
          ending,
          ...(messages.length > 0 && route !== undefined
            ? { transcript: { sessionKey: route.sessionKey, messages } }
            : {}),
          decisions: trace.take(),
        });
  // Awaited together: if one commit fails, all fail, and an unhandled rejection would end an embedder's process.
  const marking =
    isRead && messages.length > 0 && inbound !== undefined && route !== undefined
      ? agents.markRead(inbound, route, visit)
      : undefined;
  const counted = reply === undefined ? undefined : reportLeftOut(unit, { store, log: dependencies.log });
  const alone = marking === undefined && counted === undefined && accepted.length === 0;
  const rows = alone ? await saying : (await Promise.all([saying, marking, counted, ...accepted]))[0];
  return { ending, rows, inbound, usage: reply?.usage, presence, admission: admitted, files };
}
