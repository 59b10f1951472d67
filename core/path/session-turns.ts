/**
 * Turns of one session run one at a time, in the order in which they came to it, whatever lanes they come from: two chats, or a chat and
 * a heartbeat. Each reads what the one before it has written.
 */
import { Interrupted } from "./hand-back.ts";
import type { TurnSlot } from "./turn-slots.ts";

interface Waiting {
  readonly lane: string;
  enter(): void;
  refuse(error: Error): void;
}

export interface SessionTurns {
  /**
   * Resolves with what ends the visit to the session: at once, unless others are in it or before it. The slot is free meanwhile, so that
   * turns of other sessions go on. Rejects with `Interrupted` when the gateway closes.
   */
  enter(sessionKey: string, unit: { readonly lane: string; readonly slot: TurnSlot }): (() => void) | Promise<() => void>;
  /** Whether a unit of that lane waits for its session. */
  waits(lane: string): boolean;
}

export function createSessionTurns(closing: AbortSignal): SessionTurns {
  /** For each session that a turn is in: those that come after it. */
  const sessions = new Map<string, Waiting[]>();

  function visit(sessionKey: string): () => void {
    return () => {
      const next = sessions.get(sessionKey)?.shift();
      if (next === undefined) sessions.delete(sessionKey);
      else next.enter();
    };
  }

  closing.addEventListener(
    "abort",
    () => {
      for (const waiting of sessions.values()) for (const { refuse } of waiting.splice(0)) refuse(new Interrupted());
    },
    { once: true },
  );

  async function wait(before: Waiting[], sessionKey: string, { lane, slot }: { readonly lane: string; readonly slot: TurnSlot }) {
    if (closing.aborted) throw new Interrupted();
    slot.release();
    await new Promise<void>((enter, refuse) => before.push({ lane, enter, refuse }));
    await slot.take();
    return visit(sessionKey);
  }

  return {
    enter(sessionKey, unit) {
      const before = sessions.get(sessionKey);
      if (before !== undefined) return wait(before, sessionKey, unit);
      sessions.set(sessionKey, []);
      return visit(sessionKey);
    },
    waits: (lane) => [...sessions.values()].some((waiting) => waiting.some((one) => one.lane === lane)),
  };
}
