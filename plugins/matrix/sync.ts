/** Receives events: long polling, with the place where it goes on stored behind them. */
import { type ChannelAccount, ChannelError, type Json } from "service-gateway/sdk/channel";
import { type Fields, type Homeserver, list, path, record, string } from "./homeserver.ts";
import type { Invitations } from "./invitations.ts";
import { aboutId, type Raw } from "./message.ts";
import type { Options } from "./options.ts";
import type { Rooms } from "./rooms.ts";

const waitsMs = 30_000;
/** Events of one room in one answer; those before them are fetched in pages of as many. */
const pageSize = 50;
const mostPages = 200;

const messages = [
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
const filter = JSON.stringify({
  presence: { types: [] },
  account_data: { types: ["m.direct"] },
  room: { timeline, state: { types: states, ...members }, ephemeral: { types: [] }, account_data: { types: [] } },
});

const encryptedNotice = "I cannot read encrypted messages. Please write to me in a room without end-to-end encryption.";

export interface Sync {
  /** Remembers where the first start is: what was written before is not received. */
  begin(bot: Raw["bot"], signal: AbortSignal): Promise<void>;
  /** One answer of the homeserver, completely stored. `waits`: it may take until something happens. */
  next(bot: Raw["bot"], signal: AbortSignal, how: { readonly waits: boolean }): Promise<void>;
}

interface SyncOptions {
  readonly account: ChannelAccount<Options>;
  readonly options: () => Options;
  readonly server: Homeserver;
  readonly rooms: Rooms;
  readonly invitations: Invitations;
}

/** An event that this channel reads, without what the homeserver adds for clients. */
function essence(event: Fields): Raw["event"] {
  const { type, event_id, sender, origin_server_ts, content, redacts } = event;
  return {
    type,
    event_id,
    sender,
    origin_server_ts,
    content,
    ...(redacts !== undefined && { redacts }),
  } as Raw["event"];
}

/** How often a call that concerns one room may fail before all other rooms go on without it. */
const mostFailures = 5;

/** The homeserver answered that it will not do this, or cannot. Without an answer, it may be away. */
const isRefusal = (error: unknown): error is ChannelError =>
  error instanceof ChannelError &&
  (error.reason === "platform_error" || !error.retryable) &&
  error.reason !== "unauthorized";

export function createSync({ account, options, server, rooms, invitations }: SyncOptions): Sync {
  const { store, log } = account;
  const failures = new Map<string, number>();

  const isOwnMembership = (event: Fields, bot: Raw["bot"], membership: string) =>
    event.type === "m.room.member" && event.state_key === bot.id && record(event.content).membership === membership;

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

  /** The events of a room that are new, oldest first. A gap before them is fetched. */
  async function eventsOf(id: string, joined: unknown, since: string, bot: Raw["bot"], signal: AbortSignal) {
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

  /** Looked up before an event is stored, because its meaning depends on it. Later it may be gone. */
  async function lookUp(room: string, id: string | undefined, seen: ReadonlyMap<string, Fields>, signal: AbortSignal) {
    if (id === undefined) return undefined;
    const near = seen.get(id);
    if (near !== undefined) return essence(near);
    try {
      return essence(await server.call({ name: "event", path: path`client/v3/rooms/${room}/event/${id}`, signal }));
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  async function answerEncrypted(room: string, raw: Raw, signal: AbortSignal): Promise<void> {
    if ((await rooms.get(room)).answered === true) return;
    const content = { msgtype: "m.text", body: raw.bot.id };
    const verdict = await account.check({ ...raw, event: { ...raw.event, type: "m.room.message", content } });
    if (!verdict.allowed && verdict.code !== "pairing_required") return;
    const sending = server.call({
      ...{ name: "send", method: "PUT", signal },
      // Always the same for this room, so that the sentence is there once.
      path: path`client/v3/rooms/${room}/send/m.room.message/${`encrypted.${room}`}`,
      body: { msgtype: "m.notice", body: encryptedNotice, "m.mentions": {} },
    });
    await sending.catch((error: unknown) => {
      // Such as a room in which only some may write.
      if (!isRefusal(error)) throw error;
    });
    await rooms.set(room, { answered: true });
  }

  /** People see that the bot has read the message. */
  async function markRead(room: string, id: string): Promise<void> {
    await server.call({
      ...{ name: "receipt", method: "POST", body: {} },
      path: path`client/v3/rooms/${room}/receipt/m.read/${id}`,
    });
  }

  /** Resolves when the new events of a room are on the disk. */
  async function receiveRoom(
    id: string,
    joined: unknown,
    since: string | undefined,
    bot: Raw["bot"],
    signal: AbortSignal,
  ) {
    await rooms.update(id, joined);
    await invitations.settle(id);
    const { events, names } =
      // The history of the rooms in which the bot was before its first start is not for it.
      since === undefined
        ? {
            events: list(record(record(joined).timeline).events)
              .map(record)
              .slice(-1),
            names: [],
          }
        : await eventsOf(id, joined, since, bot, signal);
    const seen = new Map(events.map((event) => [String(event.event_id), event]));
    const nameOf = new Map<unknown, string>();
    const { name: title, alias, encrypted } = await rooms.get(id);
    const pending: Promise<unknown>[] = [];
    let read: string | undefined;
    let unreadable: Raw | undefined;
    const learn = ({ type, state_key: person, content }: Fields) => {
      const name = string(record(content).displayname);
      if (type === "m.room.member" && name !== undefined && name.trim() !== "") nameOf.set(person, name.slice(0, 300));
    };
    for (const event of names) learn(record(event));
    for (const event of events) {
      learn(event);
      const { type, sender, event_id: eventId, content } = event;
      if (since === undefined || sender === bot.id || !messages.includes(String(type))) continue;
      if (typeof sender !== "string" || typeof eventId !== "string") continue;
      const about = await lookUp(id, aboutId(record(content)), seen, signal);
      const name = nameOf.get(sender);
      const place = { id, direct: await rooms.isDirect(id, sender, signal) };
      const raw: Raw = {
        ...{ bot, room: { ...place, ...((title ?? alias) !== undefined && { title: title ?? alias ?? "" }) } },
        event: essence(event),
        ...(name !== undefined && { name }),
        ...(about !== undefined && { about }),
      };
      if (place.direct) await rooms.wrote(sender, id);
      if (pending.length % 24 === 23) await account.room();
      const storing = account.receive(raw as Json, { id: eventId });
      // Awaited below, together with the others of the room.
      storing.catch(() => {});
      pending.push(storing);
      if (type === "m.room.encrypted") unreadable = raw;
      else if (type !== "m.room.redaction" && type !== "m.reaction") read = eventId;
      if (type === "m.room.tombstone") await followTombstone(record(content), sender, signal);
    }
    await Promise.all(pending);
    if (unreadable !== undefined && encrypted === true) await answerEncrypted(id, unreadable, signal);
    if (read !== undefined && options().readReceipts) markRead(id, read).catch(() => {});
    const last = string(events.at(-1)?.event_id);
    if (last !== undefined) await rooms.set(id, { last, invited: undefined });
  }

  /** The room goes on under another id. */
  async function followTombstone({ replacement_room: room }: Fields, by: string, signal: AbortSignal): Promise<void> {
    if (typeof room !== "string") return;
    const query = { via: by.slice(by.indexOf(":") + 1) };
    const joining = server.call({
      name: "join",
      method: "POST",
      body: {},
      query,
      path: path`client/v3/join/${room}`,
      signal,
    });
    await joining.catch(() => log.warn({ room }, "the room that replaces another cannot be joined"));
  }

  async function next(bot: Raw["bot"], signal: AbortSignal, timeout: number): Promise<void> {
    const since = string(record(await store.get("since")).since);
    const answer = await server.call({
      // The first answer has the state of all rooms.
      ...{ name: "sync", path: "client/v3/sync", signal, waitsMs: since === undefined ? 60_000 : timeout },
      query: { filter, timeout: String(timeout), ...(since !== undefined && { since }) },
    });
    for (const event of list(record(answer.account_data).events).map(record))
      if (event.type === "m.direct") await rooms.setDirect(event.content);
    const { invite, join, leave } = record(answer.rooms);
    for (const [id, joined] of Object.entries(record(join))) await receiveRoom(id, joined, since, bot, signal);
    for (const id of Object.keys(record(leave))) {
      await rooms.remove(id);
      await invitations.settle(id);
    }
    for (const [id, found] of Object.entries(record(invite))) await invitations.consider(id, found, bot, signal);
    const after = string(answer.next_batch);
    if (after === undefined) throw new ChannelError("bad_answer", { retryable: true, detail: "sync: no next_batch" });
    if (after !== since) await store.set("since", { bot: bot.id, since: after });
  }

  return {
    async begin(bot, signal) {
      if (record(await store.get("since")).bot === bot.id) return;
      // Nothing of another bot, whose token the account had before, is true of this one.
      for (const { key } of await store.list()) await store.delete(key);
      await next(bot, signal, 0);
    },
    next: (bot, signal, { waits }) => next(bot, signal, waits ? waitsMs : 0),
  };
}
