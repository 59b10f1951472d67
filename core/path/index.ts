/**
 * The spine: one unit of work walks the stations in order and ends in exactly one terminal state.
 * Whatever came in (a chat message, a webhook, a mail, a heartbeat) walks here, and only here.
 */
import { setMaxListeners } from "node:events";
import { type RawEvent, reasonOf } from "../contract/index.ts";
import type { AcceptedEvent, Ending, Unit } from "../state/index.ts";
import { Visit } from "../stations/index.ts";
import { createAcknowledgements } from "./acknowledging.ts";
import { deliver } from "./delivery.ts";
import type { Path, ReceiveOptions } from "./door.ts";
import { createReport, createUnreadLine } from "./ended.ts";
import { settledSilent, Trace } from "./ending.ts";
import { renderNotice } from "./formatting.ts";
import type { Ground, Walk } from "./ground.ts";
import { createHandBack, Interrupted } from "./hand-back.ts";
import { createLanes, type TurnSlot } from "./lanes.ts";
import type { PathOptions } from "./options.ts";
import { persist } from "./patience.ts";
import { createPresences } from "./presences.ts";
import type { Said } from "./said.ts";
import { createSessionTurns } from "./session-turns.ts";
import { createUndelivered, onceOf } from "./undelivered.ts";
import { isOfQueue } from "./unread.ts";
import { findRoute, walkStations } from "./walk.ts";

/** Dedupe keys are kept for seven days. */
const dedupeMs = 7 * 24 * 60 * 60_000;

export type { Path } from "./door.ts";
export type { AgentSide } from "./options.ts";

export function createPath(options: PathOptions): Path {
  const { hooks, store, accounts, gate, agents, log, redact, clock } = options;
  const { now, random } = clock;
  const interruption = new AbortController();
  const { signal } = interruption;
  // Every turn that runs and every send that waits listens to it.
  setMaxListeners(0, signal);
  const newTrace = () => new Trace(now, redact);
  const acknowledgements = createAcknowledgements({
    store,
    account: accounts.get,
    now,
    random,
    signal,
    onError: (error, unitId) => log.debug({ event: unitId, what: "reaction", error: reasonOf(error) }, "not removed"),
  });
  const sessions = createSessionTurns(signal);
  const lanes = createLanes({
    store,
    now,
    maxConcurrent: agents.maxConcurrent,
    run: (unit, slot) => run(unit, slot),
    onError: (error, lane) => log.error({ error: reasonOf(error), lane }, "the state did not answer"),
  });
  const ground: Ground = {
    ...{ hooks, store, accounts, gate, agents, clock, signal, sessions, newTrace, lanes },
    presenceFor: createPresences({ store, acknowledgements, accounts, agents, log, now }),
    receive,
  };
  const handBack = createHandBack({ store, log, now, signal });
  const finish = createFinish(ground, log);

  function receive(event: RawEvent, { silent, ...given }: ReceiveOptions = {}): Promise<AcceptedEvent> {
    const at = now();
    const { fingerprint, follows } = given;
    const settled = silent === undefined ? given.settled : settledSilent(event, silent, { trace: newTrace(), pathsOf: gate.pathsOf });
    // Asked before the commit, so that the claim travels with the acceptance and shares its commit: a whole trip to the writer less
    // before the turn. An event that waits to be gathered starts nothing by itself.
    const due = settled !== undefined || event.gather?.due === null ? undefined : (event.gather?.due ?? 0);
    const run = due !== undefined && due <= at ? lanes.begin(event.lane) : undefined;
    const accepting = store.accept({
      event,
      id: clock.newId(),
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
      // After the commit: a lane that looked earlier would find nothing, and never look again.
      lanes.notify(event.lane, due);
      return accepted;
    });
  }

  /** Never throws: whatever happens to a unit, it is settled or handed back. */
  async function run(unit: Unit, slot: TurnSlot): Promise<void> {
    const walk: Walk = { unit, trace: newTrace(), visit: new Visit(), slot };
    try {
      const said = unit.stage === "delivery" ? await resume(ground, unit) : await walkStations(ground, walk);
      slot.release();
      try {
        await finish(walk, said);
      } finally {
        if (said.presence !== undefined) said.presence.done();
        else if (unit.attempts > 1 || unit.stage === "delivery") void acknowledgements.mend(unit.id);
      }
    } catch (error) {
      await handBack(unit, error, walk.trace);
      // It waits in its lane again, and what its turn took from the session's queue in that one's.
      lanes.notify(unit.lane, 0);
      if (walk.sessionKey !== undefined) lanes.notify(walk.sessionKey, 0);
    }
  }

  async function start(): Promise<void> {
    await acknowledgements.mendEnded();
    await lanes.start();
  }

  return { lanes, start, receive, waitsForSession: sessions.waits, interrupt: () => interruption.abort() };
}

/** What an earlier process said and did not send. */
async function resume({ store }: Ground, unit: Unit): Promise<Said> {
  const [rows, failure] = await Promise.all([store.unsent(unit.id), store.failedPart(unit.id)]);
  return { ending: unit.ending ?? { outcome: "answered", reason: "answered" }, rows, ...(failure === null ? {} : { failure }) };
}

/** Sends what is said, and ends the unit. */
function createFinish(ground: Ground, log: PathOptions["log"]): (walk: Walk, said: Said) => Promise<void> {
  const { hooks, store, accounts, clock, signal, newTrace, lanes } = ground;
  const { now, random } = clock;
  const account = accounts.get;
  const sending = { hooks, store, now, random, signal, account, contact: accounts.contact };
  const report = createReport({ log, hooks });
  const reportUnread = createUnreadLine(log);
  const apologize = createUndelivered({
    ...{ store, now, signal },
    find: (unit) => findRoute(ground, { unit, trace: newTrace() }),
    render: (apology, trace) => renderNotice(apology, { account, trace }),
    // Its rows wait in the store, like those that an earlier process left.
    deliver: (rows, how) => deliver(rows, { ...sending, ...how, resumed: true }),
  });
  return async ({ unit, trace }, said) => {
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
      await persist(() => store.requeue(settlement), signal);
      reportUnread({ unit, end, deciding });
      return;
    }
    if (!(await persist(() => store.settle(settlement), signal))) return;
    // What it gave back may have been due meanwhile.
    if (end.unread === true && end.sessionKey !== undefined) lanes.notify(end.sessionKey, 0);
    report({ unit, inbound, end, at, deciding, receipts: sent.receipts, usage });
  };
}

export { Postponed } from "./patience.ts";
