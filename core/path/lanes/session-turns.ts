/**
 * Turns of one session run one at a time, in order of arrival, whichever lanes they come from: two chats, or a chat and
 * a heartbeat. Each reads what the previous one has written.
 */
import { Interrupted } from "../endings/hand-back.ts";
import type { TurnSlot } from "./turn-slots.ts";

interface Waiting {
  readonly lane: string;
  enter(): void;
  refuse(error: Error): void;
}

export interface SessionTurns {
  /**
   * Resolves with the function that leaves the session: at once, unless other turns are running or waiting. Meanwhile
   * the slot is free for turns of other sessions. Rejects with `Interrupted` when the gateway closes.
   */
  enter(
    sessionKey: string,
    unit: { readonly lane: string; readonly slot: TurnSlot },
  ): (() => void) | Promise<() => void>;
  /** Whether a unit of that lane waits for its session. */
  waits(lane: string): boolean;
}

export function createSessionTurns(closing: AbortSignal): SessionTurns {
  /** The waiting turns of each session in which a turn is running. */
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

  async function wait(
    before: Waiting[],
    sessionKey: string,
    { lane, slot }: { readonly lane: string; readonly slot: TurnSlot },
  ) {
    if (closing.aborted) throw new Interrupted();
    slot.pause();
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
