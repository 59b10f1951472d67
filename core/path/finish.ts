/** The end of a unit: sends what it says, stores its outcome, and reports the end. */
import { deletedSilent } from "../channels/index.ts";
import type { Ending, Unit } from "../state/index.ts";
import { type DeliveryOptions, deliver } from "./delivery.ts";
import { deletedOf } from "./endings/deleted.ts";
import { createReport, createUnreadLine } from "./endings/ended.ts";
import { dropped } from "./endings/ending.ts";
import { Interrupted } from "./endings/hand-back.ts";
import { createUndelivered, onceOf } from "./endings/undelivered.ts";
import { isOfQueue } from "./endings/unread.ts";
import { renderNotice } from "./formatting.ts";
import type { PathOptions } from "./options.ts";
import { persist } from "./patience.ts";
import type { StepDependencies, Walk } from "./step-dependencies.ts";
import type { UnitResult } from "./unit-result.ts";
import { findRoute } from "./walk.ts";

/** Rows of the account that received the event are sent by the same bot only. */
function awayFor(accounts: PathOptions["accounts"], { events: [leader] }: Unit): DeliveryOptions["away"] {
  const { source, account: received, dedupeKey } = leader ?? {};
  if (source === undefined || received === undefined || dedupeKey === undefined)
    return ({ channel, account: id }) => accounts.away(channel, id);
  const by = { source, account: received, dedupeKey };
  return ({ channel, account: id }) =>
    channel === source && id === received ? accounts.awayFor(by) : accounts.away(channel, id);
}

/** How a unit ends whose parts were sent; `failure`: the reason of the first one that was not. */
function endAfter(ending: Ending, failure: string | undefined): Ending {
  if (failure === deletedSilent.silent) return { ...ending, outcome: "silent", reason: failure };
  if (failure === undefined || ending.outcome !== "answered") return ending;
  return { ...ending, outcome: "failed", reason: failure };
}

export function createFinish(
  dependencies: StepDependencies,
  log: PathOptions["reports"]["log"],
): (walk: Walk, result: UnitResult) => Promise<void> {
  const { hooks, store, accounts, clock, newTrace, lanes, deletions } = dependencies;
  const { now, random } = clock;
  const account = accounts.get;
  const sending = { hooks, store, now, random, account, contact: accounts.contact };
  const report = createReport({ log, hooks, underWay: dependencies.underWay });
  const reportUnread = createUnreadLine(log);
  const apologize = createUndelivered({
    ...{ store, now },
    find: (unit) => findRoute(dependencies, { unit, trace: newTrace() }),
    render: (apology, trace) => renderNotice(apology, { account, trace }),
    // Its rows wait in the store, like those that an earlier process left.
    deliver: (rows, { unit, ...how }) =>
      deliver(rows, { ...sending, ...how, away: awayFor(accounts, unit), resumed: true }),
  });
  /** A deletion may have been carried out just before the turn was written. */
  async function forgetDeleted(unit: Unit): Promise<void> {
    if (unit.stage !== "turn" || deletedOf(unit, deletions) === undefined) return;
    await deletions.forgetAgain(unit.events.map(({ id }) => id));
  }
  /** Ends a unit whose reply an operator has dropped while it waited for its channel. */
  async function drop(
    unit: Unit,
    { ending, trace, signal, visit }: Pick<Walk, "trace" | "signal" | "visit"> & { readonly ending: Ending },
  ) {
    const end: Ending = { ...ending, ...dropped(trace).stop };
    const at = now();
    if (!(await persist(() => store.settle({ ...end, unitId: unit.id, at, decisions: trace.take() }), signal))) return;
    report({
      unit,
      visit,
      inbound: undefined,
      end,
      at,
      deciding: trace.deciding("silent"),
      receipts: [],
      usage: undefined,
    });
  }

  return async ({ unit, trace, visit, signal }, result) => {
    const { ending, rows, inbound, usage } = result;
    const [leader] = unit.events;
    const acceptedAt = leader?.acceptedAt ?? 0;
    if (unit.stage === "delivery" && rows.some(({ address }) => dependencies.drops.cover(address, acceptedAt))) {
      for (const { id } of rows) await persist(() => store.unsendable(id, { at: now(), reason: "dropped" }), signal);
      return await drop(unit, { ending, trace, signal, visit });
    }
    const once = onceOf(ending, result.failure);
    const [first] = rows;
    // The node that sends for the account takes the unit over.
    const sends = first === undefined || result.files?.bound === true || dependencies.sendsTo(first.address);
    if (sends !== true && !(await sends)) throw new Interrupted();
    const delivered = await deliver(rows, {
      ...sending,
      signal,
      trace,
      visit,
      resumed: unit.stage === "delivery",
      away: awayFor(accounts, unit),
      admission: result.admission,
      once,
      isDeleted: () => deletedOf(unit, deletions) === "all",
    });
    if (delivered.interrupted === true) throw new Interrupted();
    const failure = result.failure ?? delivered.failure;
    const end = endAfter(ending, failure);
    const undelivered = end !== ending && end.outcome === "failed";
    const deciding = end.outcome === "answered" ? undefined : trace.deciding(end.outcome);
    const sent = undelivered
      ? await apologize({ unit, end, rows, sent: delivered, inbound, trace, signal })
      : delivered;
    if (sent.interrupted === true) throw new Interrupted();
    const at = now();
    const settlement = {
      ...end,
      unitId: unit.id,
      at,
      decisions: trace.take(),
      ...(sent.last === undefined ? {} : { sent: sent.last }),
    };
    if (end.unread === true && isOfQueue(unit)) {
      await persist(() => store.requeue(settlement), signal);
      reportUnread({ unit, end, deciding });
      return;
    }
    if (!(await persist(() => store.settle(settlement), signal))) return;
    await forgetDeleted(unit);
    if (result.files !== undefined) void dependencies.files.forget(result.files);
    // Events that it returned to the queue may have become due meanwhile.
    if (end.unread === true && end.sessionKey !== undefined) lanes.notify(end.sessionKey, 0);
    report({ unit, visit, inbound, end, at, deciding, receipts: sent.receipts, usage });
  };
}
