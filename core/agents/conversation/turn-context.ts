/** The context that the agent reads before the current message: what happened since its last turn. */

import type { Inbound, Route } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store, StoredEvent } from "../../state/index.ts";
import { carried, logLeftOut, type Visit } from "../../stations/index.ts";
import { defuseLines, plainId, renderTime } from "./envelope.ts";
import { type GroupContext, renderGroupContext } from "./group-context.ts";
import { isPluginTurn } from "./plugin-turn.ts";
import { renderQueued } from "./queued-events.ts";
import { mainSessionKey } from "./sessions.ts";
import { eventQueue } from "./system-events.ts";
import type { WaitingEvent, WaitingEvents } from "./waiting-events.ts";

export interface TurnContext {
  /** Collects the context; called once for a turn. Takes the events of the session's queue into the turn's unit. */
  read(inbound: Inbound, route: Route, visit: Visit, limit?: { readonly maxCharacters: number }): Promise<string>;
  /** The context that `read` found for this turn; empty when the agent was not called. */
  of(visit: Visit): string;
  /** Whether `read` took events from the session's queue. */
  tookQueued(visit: Visit): boolean;
  /** Call it while the turn is written, so that the next turn does not repeat the same context. */
  markRead(inbound: Inbound, route: Route, visit: Visit): Promise<unknown> | undefined;
  /** Drops earlier events, because this message begins a new conversation. */
  forget(inbound: Inbound, route: Route): Promise<unknown>;
}

interface News {
  readonly text: string;
  readonly events: readonly WaitingEvent[];
  /** Whether the context includes group messages. */
  readonly hasMessages: boolean;
  /** Events taken from the session's queue. */
  readonly queued: readonly StoredEvent[];
}

const news = carried<News>("news");

/** Whether the turn reads events of its session's queue, such as wakes and summaries of webhooks. */
export const tookQueuedEvents = (visit: Visit): boolean => (visit.get(news)?.queued.length ?? 0) > 0;

export function createTurnContext({
  waiting,
  group,
  store,
  now,
  log,
}: {
  readonly waiting: WaitingEvents;
  readonly group: GroupContext;
  readonly store: Pick<Store, "takeQueued" | "leftOutReported">;
  readonly now: () => number;
  readonly log: Pick<PluginLog, "warn">;
}): TurnContext {
  /** Only main sessions have queued events. A heartbeat already contains its own. */
  async function take(inbound: Inbound, { agentId, sessionKey }: Route): Promise<readonly StoredEvent[]> {
    if (sessionKey !== mainSessionKey(agentId) || inbound.request?.heartbeat !== undefined || isPluginTurn(inbound))
      return [];
    return await store.takeQueued(inbound.id, { queue: eventQueue(sessionKey), now: now() });
  }

  return {
    async read(inbound, route, visit, limit) {
      const { sessionKey } = route;
      const [events, messages, queued] = await Promise.all([
        waiting.of(sessionKey),
        group.before(inbound, sessionKey),
        take(inbound, route),
      ]);
      const blocks = [
        renderQueued(queued, { leftOut: queued[0]?.leftOut, ...limit }),
        renderGroupContext(messages, limit),
        renderEvents(events),
      ];
      const text = blocks.filter((block) => block !== "").join("\n");
      visit.set(news, { text, events, hasMessages: messages.length > 0, queued });
      return text;
    },
    of: (visit) => visit.get(news)?.text ?? "",
    tookQueued: tookQueuedEvents,
    markRead(inbound, { sessionKey }, visit) {
      const { events = [], hasMessages = false, queued = [] } = visit.get(news) ?? {};
      const leftOut = queued[0]?.leftOut;
      if (events.length === 0 && !hasMessages && leftOut === undefined) return undefined;
      if (leftOut !== undefined) logLeftOut(log, { event: inbound.id, session: sessionKey, leftOut });
      return Promise.all([
        events.length > 0 && waiting.remove(sessionKey, events),
        hasMessages && group.markSeen(inbound, sessionKey),
        leftOut !== undefined && store.leftOutReported(eventQueue(sessionKey).key, leftOut),
      ]);
    },
    async forget(inbound, { sessionKey }) {
      const events = await waiting.of(sessionKey);
      await Promise.all([events.length > 0 && waiting.remove(sessionKey, events), group.markSeen(inbound, sessionKey)]);
    },
  };
}

/**
 * One line for each event, in the gateway's own brackets. Names in the text were chosen by users, so the brackets
 * identify the sender.
 */
function renderEvents(events: readonly WaitingEvent[]): string {
  return events
    .map(({ at, text, senderId }) => {
      const who = senderId === undefined ? "" : `id:${plainId(senderId)} `;
      return `[event ${who}${renderTime(at)}] ${defuseLines(text)}`;
    })
    .join("\n");
}
