/** Handles a unit that could not be finished: it goes back into the store for another attempt. */

import { sleep } from "../../channels/index.ts";
import { cannotStore, isLeaseLost, reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { Store, Unit } from "../../state/index.ts";
import { type Hold, postponementOf } from "../patience.ts";
import type { Trace } from "./ending.ts";

/** Wait after an internal fault, such as a store that does not respond, before the next attempt. */
const retryAfterMs = 1_000;
/** How often a waiting event is checked if nothing else says when it may go on. */
const lookAgainMs = 5_000;
const maxRemembered = 10_000;
/** How many events that wait for the same thing the log names at its default level. */
const mostLogged = 10;

/** The gateway closes while a unit runs: the unit is handed back, and the attempt does not count. */
export class Interrupted extends Error {}

/** What of a walk a hand-back needs. */
interface HandedBack {
  readonly unit: Unit;
  readonly trace: Trace;
  /** Resolves with whether the hand-back has to take the attempt back, so that it does not count. */
  readonly attempt: { close(how: { readonly counts: boolean }): Promise<boolean> };
}

export function createHandBack(options: {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  /** Aborted when the gateway closes. */
  readonly signal: AbortSignal;
}): (walk: HandedBack, error: unknown) => Promise<Hold | undefined> {
  const { store, log, now, signal } = options;
  /** Units that wait for something, so that each is logged and recorded once, not at every check. */
  const postponed = new Set<string>();
  /** How many events were logged for each thing that they wait for. */
  const logged = new Map<string, number>();

  function logPostponed(unit: Unit, { code, detail, path }: NonNullable<ReturnType<typeof postponementOf>>): void {
    const line = { event: unit.id, lane: unit.lane, reason: code, path };
    const before = logged.get(detail) ?? 0;
    if (logged.size >= maxRemembered) logged.clear();
    logged.set(detail, before + 1);
    const more = before + 1 === mostLogged ? "; further events that wait for it are logged at the level debug" : "";
    if (before < mostLogged) log.warn(line, `an event waits: ${detail}${more}`);
    else log.debug(line, `an event waits: ${detail}`);
  }

  function reportPostponed(unit: Unit, why: NonNullable<ReturnType<typeof postponementOf>>, trace: Trace): void {
    trace.take();
    if (why.known === true || postponed.has(unit.id)) return;
    if (postponed.size >= maxRemembered) postponed.clear();
    postponed.add(unit.id);
    const { code, detail, path, hint } = why;
    const more = { path, hint };
    trace.add("settled", { plugin: "core", verdict: "retry", code, detail, ...more });
    logPostponed(unit, why);
  }

  /** The node that takes the unit over records why. */
  function reportLost(unit: Unit): void {
    log.warn(
      { event: unit.id, lane: unit.lane, reason: "lease_lost" },
      "another node has taken over an event, because this one lost its lease",
    );
  }

  return async ({ unit, trace, attempt: own }, error) => {
    if (isLeaseLost(error)) return void reportLost(unit);
    const interrupted = error instanceof Interrupted;
    const why = interrupted ? undefined : postponementOf(error);
    if (why !== undefined) reportPostponed(unit, why, trace);
    else if (!interrupted) {
      trace.add("settled", { plugin: "core", verdict: "retry", code: "attempt_failed", detail: reasonOf(error) });
      log.error(
        { event: unit.id, lane: unit.lane, attempt: unit.attempts, error: reasonOf(error) },
        "an attempt failed",
      );
    }
    // A store that is away or an unreachable platform is not the event's fault.
    const counts = !(interrupted || why !== undefined || cannotStore(error));
    let uncount: boolean | undefined;
    const decisions = trace.take();
    for (let attempt = 1; ; attempt += 1) {
      const waitMs = why === undefined ? retryAfterMs * 4 ** (unit.attempts - 1) : (why.wait?.ms() ?? lookAgainMs);
      const due = interrupted ? now() : now() + waitMs;
      try {
        uncount ??= await own.close({ counts });
        await store.handBack(unit.id, { due, uncount, decisions });
        return why?.wait && { due, wait: why.wait };
      } catch (failure) {
        // The lane waits until the store can be written; the process keeps the unit's data in memory.
        if (cannotStore(failure) && (await sleep(retryAfterMs * Math.min(attempt, 10), signal))) continue;
        if (isLeaseLost(failure)) return void reportLost(unit);
        // Even the hand-back could not be written: the unit stays marked as running, and the next start resumes it.
        log.error(
          { event: unit.id, error: reasonOf(failure) },
          "an event could not be handed back; it resumes at the next start",
        );
        return undefined;
      }
    }
  };
}
