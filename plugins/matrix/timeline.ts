/** The new events of a room, with those of a gap before them. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import { type Fields, type Homeserver, isRefusal, list, path, record, string } from "./homeserver.ts";
import type { Raw } from "./message.ts";
import type { Rooms } from "./rooms.ts";

/** Events of one room in one answer; those before them are fetched in pages of as many. */
const pageSize = 50;
const mostPages = 200;

/** The events that people cause. */
export const messages: readonly string[] = [
  "m.room.message",
  "m.sticker",
  "m.reaction",
  "m.room.redaction",
  "m.room.encrypted",
  "m.room.tombstone",
];
const states = ["m.room.member", "m.room.name", "m.room.canonical_alias", "m.room.encryption"];
const members = { lazy_load_members: true, include_redundant_members: true };
const timeline = { types: [...messages, ...states], limit: pageSize, ...members };
/** What a sync is asked for. */
export const filter = JSON.stringify({
  presence: { types: [] },
  account_data: { types: ["m.direct"] },
  room: { timeline, state: { types: states, ...members }, ephemeral: { types: [] }, account_data: { types: [] } },
});

/** How often a call that concerns one room may fail before all other rooms go on without it. */
const mostFailures = 5;

export interface Timeline {
  /** The events that are new, oldest first, and events with the names of members. */
  eventsOf(
    room: string,
    joined: unknown,
    since: string,
    how: { readonly bot: Raw["bot"]; readonly signal: AbortSignal },
  ): Promise<{ readonly events: readonly Fields[]; readonly names: readonly unknown[] }>;
}

const isOwnMembership = (event: Fields, bot: Raw["bot"], membership: string) =>
  event.type === "m.room.member" && event.state_key === bot.id && record(event.content).membership === membership;

export function createTimeline({ log }: Pick<ChannelAccount, "log">, server: Homeserver, rooms: Rooms): Timeline {
  const failures = new Map<string, number>();

  /** What comes before a place in a room, newest first. */
  async function pageOf(id: string, at: { readonly from: string; readonly to?: string }, signal: AbortSignal) {
    try {
      const page = await server.call({
        ...{ name: "messages", path: path`client/v3/rooms/${id}/messages`, signal },
        query: { ...at, dir: "b", limit: String(pageSize), filter: JSON.stringify(timeline) },
      });
      failures.delete(id);
      return page;
    } catch (error) {
      const count = (failures.get(id) ?? 0) + 1;
      failures.set(id, count);
      if (!isRefusal(error) || (error.retryable && count < mostFailures)) throw error;
      // It must not keep all other rooms waiting.
      log.warn({ room: id, reason: error.message }, "a gap cannot be fetched");
      return {};
    }
  }

  async function eventsOf(...[id, joined, since, { bot, signal }]: Parameters<Timeline["eventsOf"]>) {
    const { last, invited } = await rooms.get(id);
    const { events, limited, prev_batch: before } = record(record(joined).timeline);
    const isKnown = (event: Fields) =>
      // What was written between the invitation and the arrival of the bot is for the bot.
      last === undefined ? isOwnMembership(event, bot, invited === true ? "invite" : "join") : event.event_id === last;
    /** Newest first. */
    const found: Fields[] = [];
    function take(page: readonly unknown[]): boolean {
      for (const event of page.map(record)) {
        if (isKnown(event)) return true;
        found.push(event);
      }
      return false;
    }
    let isWhole = take(list(events).toReversed()) || limited !== true;
    let from = string(before);
    // Names of members are also in events before those that are new.
    const names = [...list(record(record(joined).state).events), ...list(events)];
    for (let pages = 0; !isWhole && from !== undefined; pages += 1) {
      if (pages === mostPages) {
        log.warn({ room: id, events: found.length }, "a gap is too long: its oldest events are not fetched");
        break;
      }
      // A room that is new to the bot may have been written to before the last sync.
      const page = await pageOf(id, { from, ...(last !== undefined && { to: since }) }, signal);
      isWhole = take(list(page.chunk)) || page.end === from;
      from = string(page.end);
      names.push(...list(page.state), ...list(page.chunk));
    }
    return { events: found.toReversed(), names };
  }

  return { eventsOf };
}
