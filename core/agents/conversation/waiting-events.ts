/**
 * What happened in a conversation and asks for no answer, such as a reaction: kept until the next turn of the session mentions it. It
 * does not wait in the inbox: its own event has ended, and without a further turn it is forgotten.
 */

import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

export const waitingEventsNamespace = "waiting-events";
/** Of more than this, only the newest are kept. */
const maxEvents = 50;
const maxCharacters = 1_000;
const keepMs = 7 * 24 * 60 * 60_000;

export interface WaitingEvent {
  /** Id of the event that it came with: a unit that runs again adds it no second time. */
  readonly id: string;
  readonly at: number;
  readonly text: string;
  /** Who caused it, by their id at the platform. */
  readonly senderId?: string;
}

export interface WaitingEvents {
  add(sessionKey: string, event: WaitingEvent): Promise<unknown>;
  /** Oldest first. */
  of(sessionKey: string): Promise<readonly WaitingEvent[]>;
  /** Forgets what a turn has mentioned, in one commit with the writing of that turn. */
  told(sessionKey: string, events: readonly WaitingEvent[]): Promise<unknown>;
  /** The group has another id, and its session another key. */
  move(from: string, to: string): Promise<unknown>;
}

export function createWaitingEvents({
  store,
  now,
}: {
  readonly store: Pick<Store, "get" | "update">;
  readonly now: () => number;
}): WaitingEvents {
  const fresh = (value: Json | null) => readEvents(value).filter(({ at }) => at > now() - keepMs);
  const waiting: WaitingEvents = {
    add(sessionKey, { id, at, text, senderId }) {
      const added = { id, at, text: text.slice(0, maxCharacters), ...(senderId === undefined ? {} : { senderId }) };
      return store.update(
        waitingEventsNamespace,
        sessionKey,
        (value) => [...fresh(value).filter((event) => event.id !== id), added].slice(-maxEvents) as unknown as Json,
        { expiresAt: now() + keepMs },
      );
    },
    of: async (sessionKey) => fresh(await store.get(waitingEventsNamespace, sessionKey)),
    told(sessionKey, events) {
      const ids = new Set(events.map(({ id }) => id));
      return store.update(waitingEventsNamespace, sessionKey, (value) => {
        const left = fresh(value).filter(({ id }) => !ids.has(id));
        return left.length === 0 ? null : (left as unknown as Json);
      });
    },
    async move(from, to) {
      const events = await waiting.of(from);
      for (const event of events) await waiting.add(to, event);
      await waiting.told(from, events);
    },
  };
  return waiting;
}

function readEvents(value: Json | null): readonly WaitingEvent[] {
  return Array.isArray(value) ? (value as unknown as readonly WaitingEvent[]) : [];
}
