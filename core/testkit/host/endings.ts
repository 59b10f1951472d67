/** How events end. Reads the state as another process would, so that only stored facts are reported. */
import type { Decision, Outcome } from "../../contract/index.ts";
import type { EventReport } from "../../state/index.ts";
import { openSqliteReader } from "../../state/sqlite/index.ts";
import { realWait } from "./played-clock.ts";

/** How an event ended, and the decisions that led there. */
export interface Ended {
  readonly eventId: string;
  readonly outcome: Outcome;
  /** Reason code, such as `answered` or `sender_not_allowed`; see `core/CODES.md`. */
  readonly reason: string;
  /** The agent and session of its turn; absent if there was no turn. */
  readonly agentId?: string;
  readonly sessionKey?: string;
  /**
   * The agent's reply to a webhook, whether or not it was sent. Only while the configuration has `hooks.exposeReplies`.
   */
  readonly reply?: string;
  /** What each station decided, in order, as `service why` prints it. */
  readonly decisions: readonly Decision[];
}

export interface Endings {
  /** Resolves when the event has ended; rejects after `patienceMs` of real time. */
  wait(eventId: string): Promise<Ended>;
  /** The progress of the event; `undefined` if there is no such event. */
  find(eventId: string): Promise<EventReport | undefined>;
  /** Every event that has ended, oldest first. */
  all(): Promise<readonly Ended[]>;
  /**
   * Number of events that are running, or ready to run; `putOff`: those that only wait to repeat a send that had no
   * known effect.
   */
  progress(): Promise<{ readonly moving: number; readonly putOff: number }>;
  close(): Promise<void>;
}

const patienceMs = 10_000;
const lookEveryMs = 4;

function endedOf({ id, outcome, reason, agentId, sessionKey, reply, decisions }: EventReport): Ended | undefined {
  if (outcome === undefined) return undefined;
  return {
    ...{ eventId: id, outcome, reason: reason ?? "", decisions },
    ...(agentId === undefined ? {} : { agentId }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
    ...(reply === undefined ? {} : { reply }),
  };
}

export async function openEndings({
  stateDirectory,
  now,
}: {
  readonly stateDirectory: string;
  readonly now: () => number;
}): Promise<Endings> {
  const store = await openSqliteReader({ directory: stateDirectory, now });
  /** The store marks a row before each attempt, and removes the mark when the attempt has failed. */
  async function countPutOff(): Promise<number> {
    let count = 0;
    for (const { id, state } of await store.events({ limit: 10_000, open: true, includeInternal: true })) {
      const rows = state === "running" ? await store.unsent(id) : [];
      if (rows.some(({ attempts }) => attempts > 0) && rows.every((row) => row.state === "waiting")) count += 1;
    }
    return count;
  }
  return {
    async wait(eventId) {
      let waitedMs = 0;
      for (const from = performance.now(); waitedMs < patienceMs; waitedMs = performance.now() - from) {
        const report = await store.event(eventId);
        const ended = report?.state === "settled" ? endedOf(report) : undefined;
        if (ended !== undefined) return ended;
        await realWait(lookEveryMs);
      }
      const report = await store.event(eventId);
      const last = report?.decisions.at(-1);
      throw new Error(
        `The event ${eventId} did not end within ${patienceMs / 1_000} s: it is ${report?.state ?? "unknown"}` +
          `${last === undefined ? "" : `, last ${last.code} at ${last.station}`}. Advance the clock if it ` +
          "waits for a time.",
      );
    },
    find: async (eventId) => (await store.event(eventId)) ?? undefined,
    async all() {
      const reports = await store.events({ limit: 10_000, oldestFirst: true });
      return reports.flatMap((report) => endedOf(report) ?? []);
    },
    async progress() {
      const [{ running }, lanes] = await Promise.all([store.stats(), store.waitingLanes()]);
      const at = now();
      const putOff = running === 0 ? 0 : await countPutOff();
      return { moving: running - putOff + lanes.filter(({ due }) => due <= at).length, putOff };
    },
    close: () => store.close(),
  };
}
