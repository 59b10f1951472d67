/**
 * Summarizes the older part of conversations: after the turn that filled the context, so that no reader waits for it.
 * The messages stay stored. A summary that fails costs nothing but its calls: what does not fit is left out of the
 * requests, and the next turn tries again.
 */
import { EngineError, reasonOf } from "../../contract/index.ts";
import type { ModelRoom, PluginLog } from "../../sdk/contract.ts";
import { type ClaimStore, createClaims } from "./claims.ts";
import { isDue } from "./due.ts";
import { type CompactionRequest, type Outcome, type SummarizeOptions, summarize } from "./summarize.ts";

/** A model that failed is asked again after this, and after twice as long each further time. */
const pauseMs = 5 * 60_000;
const longestPauseMs = 6 * 3_600_000;
const mostAtOnce = 2;
const mostRemembered = 1_000;

/** A turn that has ended. */
export interface EndedTurn extends CompactionRequest {
  /** Tokens that the next request will have at least. */
  readonly tokens: number;
  readonly room: ModelRoom;
  /** Messages that did not fit. */
  readonly leftOut: number;
  readonly userTurns: number;
  /** User turns that it has read. */
  readonly readTurns: number;
}

export interface Compactions {
  /** Called after each turn; summarizes behind it if the conversation has become long. */
  after(turn: EndedTurn): void;
  /** Summarizes now, after what already runs for the conversation. Throws as an engine does. */
  now(request: CompactionRequest & { readonly focus: string; readonly signal?: AbortSignal }): Promise<Outcome>;
  close(): Promise<void>;
}

export interface CompactionOptions extends SummarizeOptions {
  readonly store: SummarizeOptions["store"] & ClaimStore;
  readonly log: Pick<PluginLog, "info" | "warn">;
}

const wasTooLong = (thrown: unknown): boolean =>
  thrown instanceof EngineError && (thrown.reason === "message_too_long" || thrown.reason === "model_context_full");

/** Once more if the first request is refused as too long, because the refusal shows how long the pieces may be. */
async function summarizeFitting(...request: Parameters<typeof summarize>): Promise<Outcome> {
  try {
    return await summarize(...request);
  } catch (thrown) {
    if (!wasTooLong(thrown)) throw thrown;
  }
  return await summarize(...request).catch((thrown: unknown) => {
    // The message that is too long is none that a person wrote.
    throw wasTooLong(thrown) ? new EngineError("model_context_full", { detail: reasonOf(thrown) }) : thrown;
  });
}

/** The sessions that are not tried again for a while, because their summary failed. */
function createPauses(now: () => number) {
  const pauses = new Map<string, { readonly until: number; readonly ms: number }>();
  return {
    has: (sessionKey: string) => (pauses.get(sessionKey)?.until ?? 0) > now(),
    begin(sessionKey: string): void {
      if (pauses.size >= mostRemembered) pauses.clear();
      const ms = Math.min(longestPauseMs, (pauses.get(sessionKey)?.ms ?? pauseMs / 2) * 2);
      pauses.set(sessionKey, { until: now() + ms, ms });
    },
    end: (sessionKey: string) => void pauses.delete(sessionKey),
  };
}

export function createCompactions(options: CompactionOptions): Compactions {
  const { standings, store, log, now } = options;
  const closing = new AbortController();
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, EndedTurn>();
  const pauses = createPauses(now);
  const claimed = createClaims(store);

  async function write(
    request: CompactionRequest,
    how: { readonly focus: string; readonly isAsked: boolean; readonly signal: AbortSignal },
  ): Promise<Outcome> {
    const { sessionKey } = request.route;
    const done = await claimed(sessionKey, ({ renew }) =>
      summarizeFitting(request, { ...how, mayGoOn: renew }, options),
    );
    return done ?? "elsewhere";
  }

  function failed(sessionKey: string, error: unknown): void {
    pauses.begin(sessionKey);
    const { reason = "failed" } = error instanceof EngineError ? error : {};
    log.warn(
      { session: sessionKey, reason, detail: reasonOf(error) },
      "a conversation could not be summarized; its oldest messages are left out where they do not fit",
    );
  }

  async function behind(turn: EndedTurn): Promise<void> {
    const { sessionKey } = turn.route;
    try {
      const done = await write(turn, { focus: "", isAsked: false, signal: closing.signal });
      if (typeof done === "string") return;
      if (done.brokenOff === undefined) pauses.end(sessionKey);
      else if (!closing.signal.aborted) failed(sessionKey, done.brokenOff);
    } catch (error) {
      if (!closing.signal.aborted) failed(sessionKey, error);
    }
  }

  function startNext(): void {
    for (const [sessionKey, turn] of waiting) {
      if (running.size >= mostAtOnce || closing.signal.aborted) return;
      if (running.has(sessionKey)) continue;
      waiting.delete(sessionKey);
      const done = behind(turn).finally(() => {
        running.delete(sessionKey);
        startNext();
      });
      running.set(sessionKey, done);
    }
  }

  return {
    after(turn) {
      const { route, leftOut } = turn;
      const settings = standings.settings(route);
      const tokens = leftOut > 0 ? Number.POSITIVE_INFINITY : turn.tokens;
      if (!isDue({ ...turn, tokens, settings })) return;
      const { sessionKey } = route;
      if (pauses.has(sessionKey) || running.has(sessionKey)) return;
      waiting.set(sessionKey, turn);
      startNext();
    },
    async now({ focus, signal, ...request }) {
      const { sessionKey } = request.route;
      // Two at once would both pay for the same summary.
      for (let other = running.get(sessionKey); other !== undefined; other = running.get(sessionKey)) await other;
      const work = write(request, {
        ...{ focus, isAsked: true },
        signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
      });
      running.set(
        sessionKey,
        work.catch(() => undefined),
      );
      try {
        const done = await work;
        if (typeof done !== "string" && done.brokenOff !== undefined) failed(sessionKey, done.brokenOff);
        return done;
      } finally {
        running.delete(sessionKey);
        startNext();
      }
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running.values());
    },
  };
}
