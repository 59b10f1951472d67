/** From ingress to formatting: the steps of one unit until what it says is in the outbox. */

import { deletedSilent } from "../channels/index.ts";
import type { Address, Inbound, Reply, Route } from "../contract/index.ts";
import { controlSuffix, type Ending, type Unit } from "../state/index.ts";
import { addHold, type FormattingContext, toolCalls, Visit } from "../stations/index.ts";
import { isAt } from "./answer-place.ts";
import { apologyTo, placeOf } from "./endings/apology.ts";
import { deletedOf, deletedStop } from "./endings/deleted.ts";
import { dropped, isStop, type Stop, type Trace } from "./endings/ending.ts";
import { exhaustedEnding, maxAttempts } from "./endings/exhausted.ts";
import { Interrupted } from "./endings/hand-back.ts";
import { formatting, removals, renderNotice, type Saying } from "./formatting.ts";
import { gating } from "./gating.ts";
import { ingress } from "./ingress.ts";
import { enterSession } from "./lanes/session-place.ts";
import { waitFor } from "./patience.ts";
import type { Presence } from "./presence/presence.ts";
import { routing } from "./routing.ts";
import { say } from "./say.ts";
import type { StepDependencies, Walk } from "./step-dependencies.ts";
import { traceTools, turn } from "./turn.ts";
import type { UnitResult } from "./unit-result.ts";

/** Resolves once everything that the unit says is in the outbox. */
export async function walkStations(dependencies: StepDependencies, walk: Walk): Promise<UnitResult> {
  const { unit } = walk;
  if (isDropped(dependencies, unit))
    return await say(dependencies, walk, { ending: dropped(walk.trace).stop, sayings: [] });
  // A turn that has come as far as a question that is still open was not what ended the processes.
  if (unit.attempts > maxAttempts && !(await dependencies.agents.asksPerson(unit.id)))
    return await giveUp(dependencies, walk);
  const received = await ingress(dependencies, walk);
  if (isStop(received)) return await say(dependencies, walk, { ending: received.stop, sayings: [] });
  const inbound = received.media.length === 0 ? received : await hear(dependencies, walk, received);
  const refused = await gating(dependencies, walk, inbound);
  if (refused !== undefined) {
    return await say(dependencies, walk, {
      ending: refused.stop,
      sayings: await notice(dependencies, walk, refused.say),
      inbound,
    });
  }
  const route = await routeOf(dependencies, walk, inbound);
  if (isStop(route)) {
    const apology =
      route.stop.outcome === "failed"
        ? apologyTo(route.stop.reason, {
            inbound,
            to: placeOf(inbound),
            isOwner: await dependencies.gate.isOwner(inbound),
          })
        : undefined;
    return await say(dependencies, walk, {
      ending: route.stop,
      sayings: await notice(dependencies, walk, apology),
      inbound,
    });
  }
  // A command such as `/stop` never waits for a turn.
  if (unit.lane.endsWith(controlSuffix)) return await answer(dependencies, walk, { inbound, route });
  const { sessions, store } = dependencies;
  const place = await walk.attempt.waitFor(enterSession({ sessions, store, walk, route }));
  walk.sessionKey = route.sessionKey;
  walk.place = place;
  try {
    return await answer(dependencies, walk, { inbound, route });
  } finally {
    place.leave();
  }
}

/** Voice messages become text before the gate looks for a mention and a command. */
async function hear({ agents }: Pick<StepDependencies, "agents">, walk: Walk, received: Inbound): Promise<Inbound> {
  const { trace, visit, signal, slot, attempt } = walk;
  const hearing = agents.hear(received, {
    visit,
    signal,
    note: (note) => trace.add("ingress", { plugin: "core", verdict: "pass", ...note }),
    waitFor: (waited) => attempt.waitFor(waited),
  });
  if (!(hearing instanceof Promise)) return hearing;
  // Others may take their turns meanwhile.
  slot.pause();
  try {
    const heard = await hearing;
    await slot.take();
    return heard;
  } catch (error) {
    throw signal.aborted ? new Interrupted() : error;
  }
}

function isDropped({ drops }: Pick<StepDependencies, "drops">, { events: [leader] }: Unit): boolean {
  const { source: channel, account, acceptedAt } = leader ?? {};
  return (
    channel !== undefined &&
    account !== undefined &&
    acceptedAt !== undefined &&
    drops.cover({ channel, account }, acceptedAt)
  );
}

function routeOf(
  dependencies: StepDependencies,
  { unit, trace, visit }: Pick<Walk, "unit" | "trace" | "visit">,
  inbound: Inbound,
): Promise<Route | Stop> {
  const { hooks, accounts, clock, drops } = dependencies;
  const isDroppedTo = (to: Address) => drops.cover(to, unit.events[0]?.acceptedAt ?? 0);
  return routing(inbound, { hooks, accounts, clock, trace, visit, isDropped: isDroppedTo });
}

/** Renders a text of the gateway itself. */
function notice(
  { accounts }: { readonly accounts: Pick<StepDependencies["accounts"], "get"> },
  { trace }: { readonly trace: Trace },
  stopReply: Stop["say"],
  more: {
    readonly previews?: readonly string[];
    readonly place?: Address | null;
    readonly shown?: string | undefined;
  } = {},
): Promise<readonly Saying[]> {
  return renderNotice(stopReply, { account: accounts.get, trace, ...more });
}

/**
 * The accounts, with the one that the turn replies to as it was when the turn began: the configuration may lose it
 * during the turn, and the reply, which is rendered nevertheless, then waits in the outbox.
 */
function accountDuringTurn({ get }: StepDependencies["accounts"], { to }: Route): StepDependencies["accounts"]["get"] {
  const atBegin = to === null ? undefined : get(to.channel, to.account);
  return (channel, account) =>
    get(channel, account) ?? (atBegin?.channel === channel && atBegin.id === account ? atBegin : undefined);
}

/**
 * Ends a unit whose message was deleted meanwhile, without a word in the chat. Throws where a part of the message is
 * left: the unit runs again with that.
 */
async function endDeleted(
  dependencies: StepDependencies,
  walk: Walk,
  during?: { readonly route: Route; readonly presence: Presence; readonly previews: readonly string[] },
): Promise<UnitResult | undefined> {
  const { unit, trace, visit } = walk;
  const deleted = deletedOf(unit, dependencies.deletions);
  if (deleted === undefined) return undefined;
  if (deleted === "some") {
    trace.add("turn", {
      plugin: "core",
      verdict: "retry",
      code: deletedSilent.silent,
      detail: "a part of the message",
    });
    throw new Interrupted();
  }
  const { stop } = deletedStop(trace);
  const unread = dependencies.agents.tookQueued(visit);
  const ending = { ...stop, ...(unread && { unread }) };
  if (during === undefined) return await say(dependencies, walk, { ending, sayings: [] });
  const { route, presence, previews } = during;
  const { sessionKey, agentId, to } = route;
  const sayings = to === null ? [] : removals(previews, to);
  return await say(dependencies, walk, { ending: { ...ending, sessionKey, agentId }, sayings, route, presence });
}

/** Runs the turn and renders what it says. */
async function answer(
  dependencies: StepDependencies,
  walk: Walk,
  { inbound: received, route }: { readonly inbound: Inbound; readonly route: Route },
): Promise<UnitResult> {
  const { hooks, store, accounts, agents, gate, clock } = dependencies;
  const { unit, trace, visit, signal } = walk;
  const deletedBefore = await endDeleted(dependencies, walk);
  if (deletedBefore !== undefined) return deletedBefore;
  const { to } = route;
  // It may have been closed while the turn waited for others of its session.
  if (to !== null) waitFor(() => accounts.away(to.channel, to.account));
  const account = accountDuringTurn(accounts, route);
  const presence = dependencies.presenceFor(walk, received, route);
  const hasFiles = received.media.length > 0 || received.replyTo?.media !== undefined;
  const inbound = hasFiles ? await agents.completeMedia(received, { route, visit, signal }) : received;
  const asSent = (reply: Reply, context: FormattingContext) => agents.asSent(reply, context, visit);
  const { silence, guardStream, refusalFor, waitForModel, completeReply, keepGenerated } = agents;
  // A process that was stopped may wake here before it learns that its lease has ended, and that another node has the
  // unit.
  if (signal.aborted || store.nodes?.leaseLeft() === 0) throw new Interrupted();
  // The session before the slot: a turn that has a slot and waits for its session would keep the others from ending.
  if (walk.place !== undefined) addHold(visit, walk.place);
  addHold(visit, { pause: () => walk.slot.pause(), resume: () => walk.slot.take() });
  const { pathsOf, isOwner } = gate;
  const ofAgents = { silence, asSent, guardStream, refusalFor, waitForModel, keepGenerated, unitId: unit.id };
  const asking = { hooks, trace, visit, presence, now: clock.now, pathsOf, isOwner, ...ofAgents, signal };
  const result = await turn(inbound, route, asking).catch(async (error: unknown) => {
    await presence.close();
    throw error;
  });
  // Also when the gateway closes: continued typing would keep the process alive, and the id of a message being shown
  // must be recorded.
  const closing = presence.close();
  const previews = closing instanceof Promise ? await closing : closing;
  if (signal.aborted) throw new Interrupted();
  walk.slot.release();
  // A turn that was stopped while it waited for a person ends in its session like any other.
  if (walk.place?.isAway === true) await walk.place.resume();
  const place = { sessionKey: route.sessionKey, agentId: route.agentId };
  const speak = (reply: Reply, context: FormattingContext) => agents.speak(reply, context, { visit, signal });
  const pipe = { hooks, trace, visit, previews, account, silence, asSent, speak, completeReply, signal };
  const formatted = isStop(result) ? result : await formatting(result.reply, { inbound, route }, pipe);
  const deleted = await endDeleted(dependencies, walk, { route, presence, previews });
  if (deleted !== undefined) return deleted;
  if (isStop(formatted)) {
    const sayings = await notice({ accounts: { get: account } }, walk, formatted.say, {
      previews,
      place: route.to,
      shown: formatted.shown,
    });
    // Without a message of its preview, nothing of the reply is in the chat.
    const spoken = previews.length === 0 ? undefined : formatted.spoken;
    return await say(dependencies, walk, {
      ending: { ...formatted.stop, ...place },
      sayings,
      inbound,
      route,
      presence,
      spoken,
    });
  }
  const { outcome, reason, reply, sayings } = formatted;
  // If the tap that removes texts from replies failed, the reply must not be shown.
  const stored = reason === "formatting_failed" ? undefined : agents.storedReply(inbound, reply);
  const ending = { outcome, reason, ...place, ...(stored === undefined ? {} : { reply: stored }) };
  // The model has replied and is not called again; the sender learns that the reply could not be sent.
  const owed =
    outcome === "failed"
      ? apologyTo(reason, {
          ...{ inbound, to: route.to, isOwner: await isOwner(inbound), onlySender: reply.to === "sender" },
        })
      : undefined;
  const apology = await notice({ accounts: { get: account } }, walk, owed);
  return await say(dependencies, walk, { ending, sayings: [...apology, ...sayings], inbound, route, reply, presence });
}

/**
 * Ends a unit that used up its attempts. The event is read once more, to find where an apology or a hook's summary
 * goes.
 */
async function giveUp(dependencies: StepDependencies, walk: Walk): Promise<UnitResult> {
  const { unit, trace, visit } = walk;
  // Reading it may be what kills the process, so it is tried once.
  const found = unit.attempts === maxAttempts + 1 ? await findRoute(dependencies, walk) : undefined;
  if (found !== undefined) {
    await dependencies.agents.readEarlierCalls(found.inbound, visit);
    traceTools(trace, visit);
  }
  // This one only gives up.
  const attempts = unit.attempts - 1;
  const ending = exhaustedEnding(trace, { attempts, route: found?.route });
  const givenUp = await sayGivenUp(dependencies, walk, ending, found);
  // Reports count the attempts that were to end. Set only now, because the number limits how often the event is read.
  await walk.attempt.returns();
  return givenUp;
}

async function sayGivenUp(
  dependencies: StepDependencies,
  walk: Walk,
  ending: Ending,
  found: Awaited<ReturnType<typeof findRoute>>,
): Promise<UnitResult> {
  const { unit, visit } = walk;
  if (found === undefined) return await say(dependencies, walk, { ending, sayings: [] });
  const { to } = found.route;
  const previews = unit.preview !== undefined && to !== null && isAt(unit.preview, to) ? unit.preview.messageIds : [];
  const isOwner = await dependencies.gate.isOwner(found.inbound);
  const apology = apologyTo(ending.reason, { inbound: found.inbound, to, uses: visit.get(toolCalls), isOwner });
  return await say(dependencies, walk, {
    ending,
    sayings: await notice(dependencies, walk, apology, { previews, place: to }),
    ...found,
  });
}

/** Where a reply to the unit would go; `undefined` if nowhere, because the event is junk or was refused. */
export async function findRoute(
  dependencies: StepDependencies,
  { unit, trace, visit = new Visit() }: Pick<Walk, "unit" | "trace"> & { readonly visit?: Visit },
): Promise<{ readonly inbound: Inbound; readonly route: Route } | undefined> {
  const walk = { unit, trace, visit };
  const received = await ingress(dependencies, walk);
  if (isStop(received)) return undefined;
  const inbound = await dependencies.agents.hear(received, "recorded");
  if ((await gating(dependencies, walk, inbound)) !== undefined) return undefined;
  const route = await routeOf(dependencies, walk, inbound);
  return isStop(route) ? undefined : { inbound, route };
}
