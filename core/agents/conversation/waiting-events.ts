/**
 * Events of a conversation that need no answer, such as a reaction. They are stored until the session's next turn
 * mentions them. They do not wait in the inbox, because their own events have ended. Without another turn they expire.
 */

import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

export const waitingEventsNamespace = "waiting-events";
/** Number of events stored for a session; the newest ones remain. */
const maxEvents = 50;
const maxCharacters = 1_000;
const keepMs = 7 * 24 * 60 * 60_000;

export interface WaitingEvent {
  /** Id of the source event, so that a unit that runs again does not add it twice. */
  readonly id: string;
  readonly at: number;
  readonly text: string;
  /** Platform id of the user who caused the event. */
  readonly senderId?: string;
}

export interface WaitingEvents {
  add(sessionKey: string, event: WaitingEvent): Promise<unknown>;
  /** The waiting events, oldest first. */
  of(sessionKey: string): Promise<readonly WaitingEvent[]>;
  /** Removes events that a turn has mentioned, in the same commit as the turn. */
  remove(sessionKey: string, events: readonly Pick<WaitingEvent, "id">[]): Promise<unknown>;
  /** Moves the events to a new session key, because the platform changed the group's id. */
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
      const added = { id, at, text: text.slice(0, maxCharacters), senderId };
      return store.update(
        waitingEventsNamespace,
        sessionKey,
        (value) => [...fresh(value).filter((event) => event.id !== id), added].slice(-maxEvents) as unknown as Json,
        { expiresAt: now() + keepMs },
      );
    },
    of: async (sessionKey) => fresh(await store.get(waitingEventsNamespace, sessionKey)),
    remove(sessionKey, events) {
      const ids = new Set(events.map(({ id }) => id));
      return store.update(waitingEventsNamespace, sessionKey, (value) => {
        const left = fresh(value).filter(({ id }) => !ids.has(id));
        return left.length === 0 ? null : (left as unknown as Json);
      });
    },
    async move(from, to) {
      const events = await waiting.of(from);
      for (const event of events) await waiting.add(to, event);
      await waiting.remove(from, events);
    },
  };
  return waiting;
}

function readEvents(value: Json | null): readonly WaitingEvent[] {
  return Array.isArray(value) ? (value as unknown as readonly WaitingEvent[]) : [];
}
