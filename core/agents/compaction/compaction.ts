/**
 * Summarizes the older part of conversations: after the turn that filled the context, so that no reader waits for it.
 * The messages stay stored. A summary that fails costs nothing but its calls: what does not fit is left out of the
 * requests, and the next turn tries again.
 */
import { EngineError, type Json, reasonOf } from "../../contract/index.ts";
import type { ModelRoom, PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { isDue } from "./due.ts";
import { type Compacted, type CompactionRequest, type SummarizeOptions, summarize } from "./summarize.ts";

/** Which nodes summarize which sessions. */
const namespace = "compactions";

/** A model that failed is asked again after this. */
const pauseMs = 5 * 60_000;
const mostAtOnce = 2;
const mostRemembered = 1_000;
const claimMs = 15 * 60_000;

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
  /** Summarizes now. Resolves with `undefined` if there is too little. Throws as an engine does. */
  now(
    request: CompactionRequest & { readonly focus: string; readonly signal?: AbortSignal },
  ): Promise<Compacted | undefined>;
  close(): Promise<void>;
}

export interface CompactionOptions extends SummarizeOptions {
  readonly store: Pick<Store, "conversation" | "addSummary" | "update" | "delete" | "nodes">;
  readonly log: Pick<PluginLog, "info" | "warn">;
}

export function createCompactions(options: CompactionOptions): Compactions {
  const { standings, store, log, now } = options;
  const closing = new AbortController();
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, EndedTurn>();
  /** When a session may be tried again after a failure. */
  const pauses = new Map<string, number>();

  /** One node at a time summarizes a session. */
  async function claimed<Result>(sessionKey: string, work: () => Promise<Result>): Promise<Result | undefined> {
    const { nodes } = store;
    if (nodes === undefined) return await work();
    const mine = { node: nodes.name, at: now() };
    const isFree = (value: Json | null) => value === null || (value as typeof mine).node === nodes.name;
    const claim = await store.update(
      namespace,
      sessionKey,
      (value) => (isFree(value) ? (mine as unknown as Json) : undefined),
      { expiresAt: nodes.time() + claimMs },
    );
    if ((claim as typeof mine | null)?.node !== nodes.name) return undefined;
    try {
      return await work();
    } finally {
      await store.delete(namespace, sessionKey);
    }
  }

  function pause(sessionKey: string): void {
    if (pauses.size >= mostRemembered) pauses.clear();
    pauses.set(sessionKey, now() + pauseMs);
  }

  async function behind(turn: EndedTurn): Promise<void> {
    const { sessionKey } = turn.route;
    try {
      const how = { focus: "", isAsked: false, signal: closing.signal };
      await claimed(sessionKey, () => summarize(turn, how, options));
    } catch (error) {
      if (closing.signal.aborted) return;
      pause(sessionKey);
      const { reason = "failed" } = error instanceof EngineError ? error : {};
      log.warn(
        { session: sessionKey, reason, detail: reasonOf(error) },
        "a conversation could not be summarized; its oldest messages are left out where they do not fit",
      );
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
      if ((pauses.get(sessionKey) ?? 0) > now() || running.has(sessionKey)) return;
      pauses.delete(sessionKey);
      waiting.set(sessionKey, turn);
      startNext();
    },
    async now({ focus, signal, ...request }) {
      const { sessionKey } = request.route;
      await running.get(sessionKey);
      const how = {
        ...{ focus, isAsked: true },
        signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
      };
      const work = claimed(sessionKey, () => summarize(request, how, options));
      running.set(
        sessionKey,
        work.catch(() => undefined),
      );
      try {
        return await work;
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
