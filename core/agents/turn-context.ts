/** What the agent is told before the message at hand, because it happened since it was asked last. */
import type { Inbound, Route } from "../types.ts";
import { defuseLines, renderTime } from "./envelope.ts";
import { type GroupContext, renderGroupContext } from "./group-context.ts";
import type { WaitingEvent, WaitingEvents } from "./waiting-events.ts";

export interface TurnContext {
  /** Reads what there is to tell; asked once for a turn. */
  read(inbound: Inbound, route: Route): Promise<string>;
  /** What `read` found for this turn; empty when the agent was not asked. */
  of(inbound: Inbound): string;
  /** The turn is being written: what it told is not told again. */
  told(inbound: Inbound, route: Route): Promise<unknown> | undefined;
  /** A new conversation begins with this message: what happened before it is told no more. */
  forget(inbound: Inbound, route: Route): Promise<unknown>;
}

interface News {
  readonly text: string;
  readonly events: readonly WaitingEvent[];
  /** Whether anything that was said in a group is among it. */
  readonly said: boolean;
}

export function createTurnContext({ waiting, group }: { readonly waiting: WaitingEvents; readonly group: GroupContext }): TurnContext {
  const found = new WeakMap<Inbound, News>();
  return {
    async read(inbound, { sessionKey }) {
      const [events, messages] = await Promise.all([waiting.of(sessionKey), group.before(inbound, sessionKey)]);
      const text = [renderGroupContext(messages), renderEvents(events)].filter((block) => block !== "").join("\n");
      found.set(inbound, { text, events, said: messages.length > 0 });
      return text;
    },
    of: (inbound) => found.get(inbound)?.text ?? "",
    told(inbound, { sessionKey }) {
      const { events = [], said = false } = found.get(inbound) ?? {};
      if (events.length === 0 && !said) return undefined;
      return Promise.all([events.length > 0 && waiting.told(sessionKey, events), said && group.told(inbound, sessionKey)]);
    },
    async forget(inbound, { sessionKey }) {
      const events = await waiting.of(sessionKey);
      await Promise.all([events.length > 0 && waiting.told(sessionKey, events), group.told(inbound, sessionKey)]);
    },
  };
}

/** One line each, in the gateway's own brackets; names in them were written by people. */
function renderEvents(events: readonly WaitingEvent[]): string {
  return events.map(({ at, text }) => `[event ${renderTime(at)}] ${defuseLines(text)}`).join("\n");
}
