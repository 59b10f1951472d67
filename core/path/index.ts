/**
 * The spine: one unit of work walks the stations in order and ends in exactly one terminal state.
 * Whatever came in (a chat message, a webhook, a mail, a heartbeat) walks here, and only here.
 */
import { setMaxListeners } from "node:events";
import { type Address, type Inbound, type RawEvent, type Reply, type Route, reasonOf } from "../contract/index.ts";
import { type AcceptedEvent, controlSuffix, type Ending, type Unit } from "../state/index.ts";
import { createAcknowledgements } from "./acknowledging.ts";
import { isAt } from "./answer-place.ts";
import { apologyTo, placeOf } from "./apology.ts";
import { admission, deliver } from "./delivery.ts";
import type { Path, ReceiveOptions } from "./door.ts";
import { createReport, createUnreadLine } from "./ended.ts";
import { isStop, settledSilent, Trace } from "./ending.ts";
import { exhaustedEnding } from "./exhausted.ts";
import { formatting, removals, renderNotice, type Saying } from "./formatting.ts";
import { gating } from "./gating.ts";
import { createHandBack, Interrupted } from "./hand-back.ts";
import { ingress } from "./ingress.ts";
import { createLanes, type TurnSlot } from "./lanes.ts";
import type { PathOptions } from "./options.ts";
import { persist } from "./patience.ts";
import type { Presence } from "./presence.ts";
import { createPresences } from "./presences.ts";
import { routing } from "./routing.ts";
import type { Said } from "./said.ts";
import { createSessionTurns } from "./session-turns.ts";
import { turn } from "./turn.ts";
import { createUndelivered, onceOf } from "./undelivered.ts";
import { isOfQueue, isUnread, reportLeftOut } from "./unread.ts";

/** Dedupe keys are kept for seven days. */
const dedupeMs = 7 * 24 * 60 * 60_000;
/** An event that fails to be processed so often is failed for good, kept and listed. */
const maxAttempts = 3;

export type { Path } from "./door.ts";

/** A unit on its way through the stations. */
interface Visit {
  readonly slot: TurnSlot;
  /** Set as soon as its turn runs in that session. */
  sessionKey?: string;
}

export function createPath(options: PathOptions): Path {
  const { hooks, store, log, now } = options;
  const interruption = new AbortController();
  // Every turn that runs and every send that waits listens to it.
  setMaxListeners(0, interruption.signal);
  const report = createReport({ log, hooks });
  const reportUnread = createUnreadLine(log);
  const isAwaited = ({ channel, account }: Address) => options.account(channel, account) === undefined && options.expects(channel, account);
  const { account, silence, asSent, completeReply, pathsOf, guardStream } = options;
  const pipe = { hooks, account, silence, asSent, completeReply, signal: interruption.signal };
  const asking = { hooks, now, silence, asSent, pathsOf, guardStream, signal: interruption.signal };
  const sending = { hooks, store, now, random: options.random, signal: interruption.signal, account, contact: options.contact };
  const handBack = createHandBack({ store, log, now, signal: interruption.signal });
  const apologize = createUndelivered({
    ...{ store, now, signal: interruption.signal },
    find: (unit) => findRoute(unit, new Trace(now, options.redact)),
    render: (apology, trace) => renderNotice(apology, { account, trace }),
    // Its rows wait in the store, like those that an earlier process left.
    deliver: (rows, how) => deliver(rows, { ...sending, ...how, resumed: true }),
  });
  const acknowledgements = createAcknowledgements({
    store,
    account,
    now,
    random: options.random,
    signal: interruption.signal,
    onError: (error, unitId) => log.debug({ event: unitId, what: "reaction", error: reasonOf(error) }, "not removed"),
  });
  const presenceFor = createPresences({ ...options, acknowledgements });
  const sessions = createSessionTurns(interruption.signal);
  const lanes = createLanes({
    store,
    now,
    maxConcurrent: options.maxConcurrent,
    run,
    onError: (error, lane) => log.error({ error: reasonOf(error), lane }, "the state did not answer"),
  });

  function receive(event: RawEvent, { silent, ...given }: ReceiveOptions = {}): Promise<AcceptedEvent> {
    const at = now();
    const { fingerprint, follows } = given;
    const settled = silent === undefined ? given.settled : settledSilent(event, silent, { trace: new Trace(now, options.redact), pathsOf });
    // Asked before the commit, so that the claim travels with the acceptance and shares its commit: a whole trip to the writer less
    // before the turn. An event that waits to be gathered starts nothing by itself.
    const due = settled !== undefined || event.gather?.due === null ? undefined : (event.gather?.due ?? 0);
    const run = due !== undefined && due <= at ? lanes.begin(event.lane) : undefined;
    const accepting = store.accept({
      event,
      id: options.newId(),
      at,
      ...(run === undefined ? {} : { claim: true as const }),
      ...(event.dedupeKey === undefined ? {} : { dedupeUntil: at + dedupeMs }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(settled === undefined ? {} : { settled }),
      ...(follows === undefined ? {} : { follows }),
    });
    if (run !== undefined) run(accepting);
    if (run !== undefined || due === undefined) return accepting;
    return accepting.then((accepted) => {
      // Told after the commit: a lane that looked before it would find nothing, and never look again.
      lanes.notify(event.lane, due);
      return accepted;
    });
  }

  /** Never throws: whatever happens to a unit, it is settled or handed back. */
  async function run(unit: Unit, slot: TurnSlot): Promise<void> {
    const trace = new Trace(now, options.redact);
    const visit: Visit = { slot };
    try {
      const said = unit.stage === "delivery" ? await resume(unit) : await walk(unit, trace, visit);
      slot.release();
      try {
        await finish(unit, said, trace);
      } finally {
        if (said.presence !== undefined) said.presence.done();
        else if (unit.attempts > 1 || unit.stage === "delivery") void acknowledgements.mend(unit.id);
      }
    } catch (error) {
      await handBack(unit, error, trace);
      // It waits in its lane again, and what its turn took from the session's queue in that one's.
      lanes.notify(unit.lane, 0);
      if (visit.sessionKey !== undefined) lanes.notify(visit.sessionKey, 0);
    }
  }

  async function resume(unit: Unit): Promise<Said> {
    const [rows, failure] = await Promise.all([store.unsent(unit.id), store.failedPart(unit.id)]);
    return { ending: unit.ending ?? { outcome: "answered", reason: "answered" }, rows, ...(failure === null ? {} : { failure }) };
  }

  /** Ingress to formatting; what is to be said stands in the outbox when it returns. */
  async function walk(unit: Unit, trace: Trace, visit: Visit): Promise<Said> {
    if (unit.attempts > maxAttempts) return await giveUp(unit, trace);
    const received = await ingress(unit, { hooks, trace, pathsOf, account });
    if (isStop(received)) return await say(unit, trace, { ending: received.stop, sayings: [] });
    const refused = await gating(received, { hooks, trace, passedBy: options.passedBy });
    if (refused !== undefined) {
      return await say(unit, trace, { ending: refused.stop, sayings: renderNotice(refused.say, { account, trace }), inbound: received });
    }
    const route = await routing(received, { hooks, trace, fallback: options.fallbackRoute, isAwaited });
    if (isStop(route)) {
      const apology = apologyTo(route.stop.reason, { inbound: received, to: placeOf(received) });
      return await say(unit, trace, { ending: route.stop, sayings: renderNotice(apology, { account, trace }), inbound: received });
    }
    // A command such as `/stop` never waits behind a turn.
    if (unit.lane.endsWith(controlSuffix)) return await answer(unit, trace, { received, route, slot: visit.slot });
    const entering = sessions.enter(route.sessionKey, { lane: unit.lane, slot: visit.slot });
    const leave = entering instanceof Promise ? await entering : entering;
    visit.sessionKey = route.sessionKey;
    try {
      return await answer(unit, trace, { received, route, slot: visit.slot });
    } finally {
      leave();
    }
  }

  /** The turn, and what it says. */
  async function answer(
    unit: Unit,
    trace: Trace,
    { received, route, slot }: { readonly received: Inbound; readonly route: Route; readonly slot: TurnSlot },
  ): Promise<Said> {
    const presence = presenceFor(unit, received, route);
    const hasFiles = received.media.length > 0 || received.replyTo?.media !== undefined;
    const inbound = hasFiles ? await options.completeMedia(received, route, interruption.signal) : received;
    const result = await turn(inbound, route, { ...asking, trace, presence });
    // Also when the gateway closes: typing that goes on would keep the process, and what is being shown needs its id written down.
    const closing = presence.close();
    const previews = closing instanceof Promise ? await closing : closing;
    if (interruption.signal.aborted) throw new Interrupted();
    slot.release();
    const place = { sessionKey: route.sessionKey, agentId: route.agentId };
    const formatted = isStop(result) ? result : await formatting(result.reply, { inbound, route }, { ...pipe, trace, previews });
    if (isStop(formatted)) {
      const ending = { ...formatted.stop, ...place };
      const notice = renderNotice(formatted.say, { account, trace, previews, place: route.to, shown: formatted.shown });
      return await say(unit, trace, { ending, sayings: notice, inbound, route, presence });
    }
    const { outcome, reason, reply, sayings } = formatted;
    const kept = options.keptReply(inbound, reply);
    const ending = { outcome, reason, ...place, ...(kept === undefined ? {} : { reply: kept }) };
    // The model has answered and is not asked again: whoever asked learns that the answer could not be sent.
    const notice = outcome === "failed" ? renderNotice(apologyTo(reason, { inbound, to: route.to }), { account, trace }) : [];
    return await say(unit, trace, { ending, sayings: [...notice, ...sayings], inbound, route, reply, presence });
  }

  /** The end of a unit whose attempts did not end: it is read once more, for where an apology or a hook's summary goes. */
  async function giveUp(unit: Unit, trace: Trace): Promise<Said> {
    // Reading it may be what ends the process: that is tried once.
    const found = unit.attempts === maxAttempts + 1 ? await findRoute(unit, trace) : undefined;
    const ending = exhaustedEnding(trace, { attempts: maxAttempts, route: found?.route });
    if (found === undefined) return await say(unit, trace, { ending, sayings: [] });
    const { to } = found.route;
    const previews = unit.preview !== undefined && to !== null && isAt(unit.preview, to) ? unit.preview.messageIds : [];
    const apology = apologyTo(ending.reason, { inbound: found.inbound, to });
    return await say(unit, trace, { ending, sayings: renderNotice(apology, { account, trace, previews, place: to }), ...found });
  }

  async function findRoute(unit: Unit, trace: Trace): Promise<{ readonly inbound: Inbound; readonly route: Route } | undefined> {
    const inbound = await ingress(unit, { hooks, trace, pathsOf, account });
    if (isStop(inbound) || (await gating(inbound, { hooks, trace, passedBy: options.passedBy })) !== undefined) return undefined;
    const route = await routing(inbound, { hooks, trace, fallback: options.fallbackRoute, isAwaited });
    return isStop(route) ? undefined : { inbound, route };
  }

  /** Ends the turn in one commit: outbox, transcript, follow-ups. Nothing of that: nothing is written yet. */
  async function say(
    unit: Unit,
    trace: Trace,
    said: {
      readonly ending: Ending;
      readonly sayings: readonly Saying[];
      readonly inbound?: Inbound;
      readonly route?: Route;
      readonly reply?: Reply;
      readonly presence?: Presence;
    },
  ): Promise<Said> {
    const { inbound, route, reply, presence } = said;
    // What an earlier attempt showed is taken up by a turn that speaks there too; nobody else does.
    const { preview } = unit;
    const left =
      preview !== undefined && !(route?.to && isAt(preview, route.to)) ? removals(preview.messageIds, preview.address) : undefined;
    const sayings = left === undefined ? said.sayings : [...said.sayings, ...left];
    const messages =
      inbound === undefined || route === undefined || reply === undefined
        ? []
        : options.transcript({ inbound, route, reply, unitId: unit.id, at: now() });
    const tookQueued = inbound !== undefined && options.tookQueued(inbound);
    const unread = inbound !== undefined && (isUnread(said.ending, inbound, reply) || (tookQueued && messages.length === 0));
    const ending: Ending = unread ? { ...said.ending, unread } : said.ending;
    const followUps =
      inbound === undefined || route === undefined
        ? []
        : options.followUps({ inbound, route, ending, unitId: unit.id, ...(reply === undefined ? {} : { reply }) });
    const accepted = followUps.map((event) => receive(event, { follows: true }));
    const [first] = sayings;
    const admitted = first === undefined ? undefined : admission(first, sending);
    const saying =
      sayings.length === 0 && messages.length === 0
        ? []
        : store.say({
            unitId: unit.id,
            at: now(),
            rows: sayings,
            ...(admitted === undefined ? {} : { first: "waiting" as const }),
            ...(tookQueued ? { tookQueued } : {}),
            ending,
            ...(messages.length > 0 && route !== undefined ? { transcript: { sessionKey: route.sessionKey, messages } } : {}),
            decisions: trace.take(),
          });
    // Together: where one commit fails all of them do, and a rejection that nobody waits for ends the process of an embedder.
    const told = messages.length > 0 && inbound !== undefined && route !== undefined ? options.told(inbound, route) : undefined;
    const counted = reply === undefined ? undefined : reportLeftOut(unit, store);
    const alone = told === undefined && counted === undefined && accepted.length === 0;
    const rows = alone ? await saying : (await Promise.all([saying, told, counted, ...accepted]))[0];
    return { ending, rows, inbound, usage: reply?.usage, presence, admission: admitted };
  }

  async function finish(unit: Unit, said: Said, trace: Trace): Promise<void> {
    const { ending, rows, inbound, usage } = said;
    const once = onceOf(ending, said.failure);
    const delivered = await deliver(rows, { ...sending, trace, resumed: unit.stage === "delivery", admission: said.admission, once });
    if (delivered.interrupted === true) throw new Interrupted();
    const failure = said.failure ?? delivered.failure;
    const undelivered = failure !== undefined && ending.outcome === "answered";
    const end: Ending = undelivered ? { ...ending, outcome: "failed", reason: failure } : ending;
    const deciding = end.outcome === "answered" ? undefined : trace.deciding(end.outcome);
    const sent = undelivered ? await apologize({ unit, end, rows, sent: delivered, inbound, trace }) : delivered;
    if (sent.interrupted === true) throw new Interrupted();
    const at = now();
    const settlement = { ...end, unitId: unit.id, at, decisions: trace.take(), ...(sent.last === undefined ? {} : { sent: sent.last }) };
    if (end.unread === true && isOfQueue(unit)) {
      await persist(() => store.requeue(settlement), interruption.signal);
      reportUnread({ unit, end, deciding });
      return;
    }
    if (!(await persist(() => store.settle(settlement), interruption.signal))) return;
    // What it gave back may have been due meanwhile.
    if (end.unread === true && end.sessionKey !== undefined) lanes.notify(end.sessionKey, 0);
    report({ unit, inbound, end, at, deciding, receipts: sent.receipts, usage });
  }

  async function start(): Promise<void> {
    await acknowledgements.mendEnded();
    await lanes.start();
  }

  return { lanes, start, receive, waitsForSession: sessions.waits, interrupt: () => interruption.abort() };
}
export { Postponed } from "./patience.ts";
