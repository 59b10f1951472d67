/** The result of a hook's run, for the program that requested it: looked up, or waited for. */

import type { Decision, Inbound, Outcome, Reply, TurnRecord } from "../../contract/index.ts";
import { type EventReport, lookForEnd, type Store } from "../../state/index.ts";

/** A decision as a sender may see it. Details are for the operator, because they may name people and places. */
export type ResultDecision = Pick<Decision, "station" | "plugin" | "verdict" | "code" | "path" | "hint"> & {
  readonly at: string;
};

/** The body of `GET runs/<runId>`, and of a request that waited for the end. Times are ISO 8601, UTC. */
export interface RunResult {
  readonly ok: true;
  readonly runId: string;
  readonly eventId: string;
  readonly state: EventReport["state"];
  readonly outcome?: Outcome;
  readonly reason?: string;
  readonly acceptedAt: string;
  readonly endedAt?: string;
  /** Milliseconds from acceptance to the end. */
  readonly ms?: number;
  readonly attempts: number;
  readonly decisions: readonly ResultDecision[];
  /**
   * The agent's reply, whether or not it was sent. Only while `hooks.exposeReplies` is on, and for runs that ended
   * while it was.
   */
  readonly reply?: string;
}

/** A request that waits for the end of a run. */
export interface Waiter {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Whether the credential of the request is still valid: a secret that was changed meanwhile reveals nothing. */
  readonly trusted: () => boolean;
}

export interface Waited {
  /** Whether the request was held as requested; the answer then says so in `Preference-Applied`. */
  readonly applied: boolean;
  /** Absent if the run did not end in that time. */
  readonly result?: RunResult;
}

/** The answers to a request that causes runs. */
export interface RunAnswer {
  /** The immediate answer. */
  readonly status: number;
  readonly body: string;
  /** The runs that must end before the other answer is given, in order. */
  readonly runIds: readonly string[];
  readonly endedStatus: number;
  /** For a request that causes several runs: the fields in addition to the first one's result. */
  readonly several?: object | undefined;
}

export interface Results {
  /** `undefined` if there is no such run of a hook. Events of people are never shown here. */
  get(runId: string): Promise<RunResult | undefined>;
  /**
   * Resolves when the run has ended, or at once if it already has. Resolves without a result after `seconds`, when the
   * client disconnects or is no longer trusted, or when the gateway closes.
   */
  wait(runId: string, seconds: number, waiter: Waiter): Promise<Waited>;
  /** Call it with the end of every unit, after it is stored. */
  settled(record: Pick<TurnRecord, "eventId" | "source">): void;
  /** The configuration has changed: releases requests that are no longer trusted. */
  recheck(): void;
  /** Answers every waiting request. */
  close(): void;
}

export interface ResultsDeps {
  readonly store: Pick<Store, "event" | "nodes">;
  readonly exposeReplies: () => boolean;
  /** Maximum number of waiting requests; a further one is answered at once. */
  readonly maxWaiting?: number;
}

const longestReply = 100_000;

/**
 * The part of a reply that is stored with the end of its run. Only for runs that a webhook requested: a holder of the
 * hook token must not read replies to users.
 */
export function storedReply(inbound: Inbound, reply: Reply, redact: (text: string) => string): string | undefined {
  if (inbound.channel !== "hooks" || inbound.kind !== "hook") return undefined;
  const text = redact(reply.text);
  return text.length > longestReply ? `${text.slice(0, longestReply - 1).toWellFormed()}…` : text;
}

export function createResults({ store, exposeReplies, maxWaiting = 1_000 }: ResultsDeps): Results {
  interface Listener {
    readonly trusted: Waiter["trusted"];
    readonly leave: () => void;
  }
  /** By run id. */
  const waiting = new Map<string, Set<Listener>>();
  let count = 0;
  let closed = false;

  async function get(runId: string): Promise<RunResult | undefined> {
    const report = await store.event(runId);
    return report === null || !isHookRun(report) ? undefined : resultOf(report, exposeReplies());
  }

  /** Registered before the store is queried, so that an end in between is not missed. */
  function listen(
    runId: string,
    trusted: Waiter["trusted"],
  ): { readonly ended: Promise<void>; readonly leave: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listeners = waiting.get(runId) ?? new Set();
    const listener: Listener = {
      trusted,
      leave() {
        resolve();
        if (!listeners.delete(listener)) return;
        count -= 1;
        if (listeners.size === 0 && waiting.get(runId) === listeners) waiting.delete(runId);
      },
    };
    waiting.set(runId, listeners.add(listener));
    count += 1;
    return { ended: promise, leave: listener.leave };
  }

  const listening = (): readonly Listener[] => [...waiting.values()].flatMap((listeners) => [...listeners]);

  const ended = async (runId: string): Promise<RunResult | undefined> => {
    const result = await get(runId);
    return result?.state === "settled" ? result : undefined;
  };

  return {
    get,
    async wait(runId, seconds, { signal, trusted }) {
      if (closed || count >= maxWaiting || signal.aborted) return { applied: false };
      const listener = listen(runId, trusted);
      const timer = setTimeout(listener.leave, seconds * 1_000);
      const stopLooking = lookForEnd(store, runId, listener.leave);
      signal.addEventListener("abort", listener.leave, { once: true });
      try {
        let result = await ended(runId);
        if (result === undefined) {
          await listener.ended;
          result = await ended(runId);
        }
        if (!trusted()) return { applied: false };
        return result === undefined ? { applied: !closed } : { applied: true, result };
      } finally {
        clearTimeout(timer);
        stopLooking();
        signal.removeEventListener("abort", listener.leave);
        listener.leave();
      }
    },
    settled({ eventId, source }) {
      if (source !== "hooks") return;
      for (const { leave } of waiting.get(eventId) ?? []) leave();
    },
    recheck() {
      for (const { trusted, leave } of listening()) if (!trusted()) leave();
    },
    close() {
      closed = true;
      for (const { leave } of listening()) leave();
    },
  };
}

/**
 * The summary of a run is the gateway's own event: it belongs to the agent's main session, and no client has its id.
 */
function isHookRun({ source, kind }: EventReport): boolean {
  return source === "hooks" && kind !== "summary";
}

function resultOf(report: EventReport, exposeReplies: boolean): RunResult {
  const { id, state, outcome, reason, acceptedAt, settledAt, attempts, reply } = report;
  return {
    ok: true,
    runId: id,
    eventId: id,
    state,
    outcome,
    reason,
    acceptedAt: iso(acceptedAt),
    ...(settledAt === undefined ? {} : { endedAt: iso(settledAt), ms: settledAt - acceptedAt }),
    attempts,
    decisions: report.decisions.map(decisionOf),
    ...(exposeReplies && reply !== undefined ? { reply } : {}),
  };
}

function decisionOf({ at, station, plugin, verdict, code, path, hint }: Decision): ResultDecision {
  return {
    at: iso(at),
    station,
    plugin,
    verdict,
    code,
    path,
    hint,
  };
}

const iso = (at: number): string => new Date(at).toISOString();
