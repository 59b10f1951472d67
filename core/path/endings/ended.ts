/**
 * Reports the end of an event: calls the observers and, at the default level, logs why a message got no reply and what
 * to change.
 */

import { type Decision, findCode, type Inbound, type Receipt, type Reply } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { Ending, Unit } from "../../state/index.ts";
import type { Hooks, UnderWay, Visit } from "../../stations/index.ts";

/** A refused sender may write any number of times; one line an hour is enough for the operator. */
const repeatMs = 60 * 60_000;
const maxRemembered = 10_000;

export interface Ended {
  readonly unit: Unit;
  /** Absent if it was not read again after a restart. */
  readonly inbound: Inbound | undefined;
  readonly end: Ending;
  readonly ms: number;
  readonly at: number;
  /** The decision that caused this end. */
  readonly deciding: Decision | undefined;
}

export function createEndedLine(log: Log): (ended: Ended) => void {
  /** Chat and reason of refusals, with the time of their last log line; oldest first. */
  const logged = new Map<string, number>();

  function isNews(key: string, at: number): boolean {
    const last = logged.get(key);
    if (last !== undefined && at - last < repeatMs) return false;
    logged.delete(key);
    logged.set(key, at);
    for (const oldest of logged.keys()) {
      if (logged.size <= maxRemembered) break;
      logged.delete(oldest);
    }
    return true;
  }

  return ({ unit, inbound, end, ms, at, deciding }) => {
    const [leader] = unit.events;
    const { outcome, reason } = end;
    const line = {
      event: unit.id,
      channel: leader?.source,
      kind: leader?.kind,
      lane: unit.lane,
      outcome,
      reason,
      ...wordsOf(deciding),
      ...(deciding?.path === undefined ? {} : { path: deciding.path }),
      ms,
      ...(unit.events.length > 1 ? { gathered: unit.events.length } : {}),
    };
    if (outcome === "failed") log.warn(line, "event ended");
    else if (deciding?.station === "gating" && !isNews(`${placeOf(unit, inbound)} ${reason}`, at))
      log.debug(line, "event ended");
    else log.info(line, "event ended");
  };
}

/** The text of the decision, otherwise the registry's text for its code. */
function wordsOf(deciding: Decision | undefined): { readonly detail?: string; readonly hint?: string } {
  if (deciding === undefined) return {};
  const known = findCode(deciding.code);
  const { detail = known?.meaning, hint = known?.hint || undefined } = deciding;
  return { detail, hint };
}

/** Reports a heartbeat that ended without a reply: its events remain queued. */
export function createUnreadLine(log: Log): (ended: Pick<Ended, "unit" | "end" | "deciding">) => void {
  return ({ unit, end: { outcome, reason }, deciding }) => {
    const line = { event: unit.id, lane: unit.lane, outcome, reason, waiting: unit.events.length };
    // A reader who knows the events misses nothing.
    const level = reason === "delivered_already" ? "debug" : "warn";
    log[level](
      { ...line, ...wordsOf(deciding) },
      "the events of a heartbeat were not read; they wait for the next turn of their session",
    );
  };
}

/** A chat has a lane for each topic and one for control commands; a sender refused in all of them is reported once. */
function placeOf({ lane }: Unit, inbound: Inbound | undefined): string {
  return inbound === undefined ? lane : JSON.stringify([inbound.channel, inbound.account, inbound.chat.id]);
}

export interface Report extends Omit<Ended, "ms"> {
  readonly visit: Visit;
  readonly receipts: readonly Receipt[];
  readonly usage: Reply["usage"] | undefined;
}

export function createReport({
  log,
  hooks,
  underWay,
}: {
  readonly log: Log;
  readonly hooks: Hooks;
  readonly underWay: UnderWay;
}): (report: Report) => void {
  const logEnd = createEndedLine(log);
  return ({ unit, visit, inbound, end, at, deciding, receipts, usage }) => {
    const [leader] = unit.events;
    if (leader === undefined) return;
    const ms = at - leader.acceptedAt;
    const { outcome, reason, agentId, sessionKey } = end;
    logEnd({ unit, inbound, end, at, deciding, ms });
    // Observers are not waited for: a slow one must not hold its lane up.
    const { source, kind } = leader;
    const record = {
      ...{ eventId: unit.id, source, kind, lane: unit.lane, outcome, reason, ms },
      ...{ receipts, agentId, sessionKey, usage },
    };
    underWay.add(hooks.settled(record, visit));
  };
}
