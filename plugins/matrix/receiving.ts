/** Stores the events of a room, each with what its meaning depends on. */
import type { ChannelAccount, Json } from "service-gateway/sdk/channel";
import { type Fields, type Homeserver, isRefusal, list, path, record, string } from "./homeserver.ts";
import type { Invitations } from "./invitations.ts";
import { aboutId, type Raw } from "./message.ts";
import type { Options } from "./options.ts";
import type { Rooms } from "./rooms.ts";
import { messages, type Timeline } from "./timeline.ts";

export interface ReceivingOptions {
  readonly account: ChannelAccount<Options>;
  readonly options: () => Options;
  readonly server: Homeserver;
  readonly rooms: Rooms;
  readonly invitations: Invitations;
  readonly timeline: Timeline;
}

/** Whose events are received, and what ends that. */
export interface Receiver {
  readonly bot: Raw["bot"];
  readonly signal: AbortSignal;
}

const encryptedNotice = "I cannot read encrypted messages. Please write to me in a room without end-to-end encryption.";

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

/** Looked up before an event is stored, because its meaning depends on it. Later it may be gone. */
async function lookUp(
  server: Homeserver,
  { room, id, signal }: { readonly room: string; readonly id: string | undefined; readonly signal: AbortSignal },
  seen: ReadonlyMap<string, Fields>,
): Promise<Raw["event"] | undefined> {
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

async function answerEncrypted({ account, rooms, server }: ReceivingOptions, raw: Raw, signal: AbortSignal) {
  const { id } = raw.room;
  const { answered, encrypted } = await rooms.get(id);
  if (answered === true || encrypted !== true) return;
  const content = { msgtype: "m.text", body: raw.bot.id };
  const verdict = await account.check({ ...raw, event: { ...raw.event, type: "m.room.message", content } });
  if (!verdict.allowed && verdict.code !== "pairing_required") return;
  const sending = server.call({
    ...{ name: "send", method: "PUT", signal },
    // Always the same for this room, so that the sentence is there once.
    path: path`client/v3/rooms/${id}/send/m.room.message/${`encrypted.${id}`}`,
    body: { msgtype: "m.notice", body: encryptedNotice, "m.mentions": {} },
  });
  await sending.catch((error: unknown) => {
    // Such as a room in which only some may write.
    if (!isRefusal(error)) throw error;
  });
  await rooms.set(id, { answered: true });
}

/** The room goes on under another id. */
async function followTombstone(
  { account, server }: ReceivingOptions,
  { content, sender }: Fields,
  signal: AbortSignal,
) {
  const room = string(record(content).replacement_room);
  if (room === undefined) return;
  const via = String(sender).slice(String(sender).indexOf(":") + 1);
  const call = { name: "join", method: "POST", body: {}, query: { via }, signal } as const;
  await server.call({ ...call, path: path`client/v3/join/${room}` }).catch(() => {
    account.log.warn({ room }, "the room that replaces another cannot be joined");
  });
}

/** The names of members, as their last events have them. */
function namesIn(events: readonly unknown[]): ReadonlyMap<unknown, string> {
  const names = new Map<unknown, string>();
  for (const { type, state_key: person, content } of events.map(record)) {
    const name = string(record(content).displayname);
    if (type === "m.room.member" && name !== undefined && name.trim() !== "") names.set(person, name.slice(0, 300));
  }
  return names;
}

/** Resolves when the new events of a room are on the disk. `since`: absent at the first start. */
export async function receiveRoom(
  deps: ReceivingOptions,
  { id, joined, since }: { readonly id: string; readonly joined: unknown; readonly since: string | undefined },
  { bot, signal }: Receiver,
): Promise<void> {
  const { account, options, server, rooms, invitations, timeline } = deps;
  await rooms.update(id, joined);
  await invitations.settle(id);
  if (since === undefined) {
    // What was written before the first start is not for the bot.
    const last = string(record(list(record(record(joined).timeline).events).at(-1)).event_id);
    return await rooms.set(id, { ...(last !== undefined && { last }) });
  }
  const { events, names } = await timeline.eventsOf(id, joined, since, { bot, signal });
  const seen = new Map(events.map((event) => [String(event.event_id), event]));
  const nameOf = namesIn([...names, ...events]);
  const { name: shown, alias } = await rooms.get(id);
  const title = shown ?? alias;
  const pending: Promise<unknown>[] = [];
  let read: string | undefined;
  let unreadable: Raw | undefined;
  for (const event of events) {
    const { type, sender, event_id: eventId, content } = event;
    if (sender === bot.id || !messages.includes(String(type))) continue;
    if (typeof sender !== "string" || typeof eventId !== "string") continue;
    const about = await lookUp(server, { room: id, id: aboutId(record(content)), signal }, seen);
    const name = nameOf.get(sender);
    const direct = await rooms.isDirect(id, sender, signal);
    const raw: Raw = {
      ...{ bot, room: { id, direct, ...(title !== undefined && { title }) }, event: essence(event) },
      ...(name !== undefined && { name }),
      ...(about !== undefined && { about }),
    };
    if (direct) await rooms.wrote(sender, id);
    if (pending.length % 24 === 23) await account.room();
    const storing = account.receive(raw as Json, { id: eventId });
    // Awaited below, together with the others of the room.
    storing.catch(() => {});
    pending.push(storing);
    if (type === "m.room.encrypted") unreadable = raw;
    else if (type !== "m.room.redaction" && type !== "m.reaction") read = eventId;
    if (type === "m.room.tombstone") await followTombstone(deps, event, signal);
  }
  await Promise.all(pending);
  if (unreadable !== undefined) await answerEncrypted(deps, unreadable, signal);
  if (read !== undefined && options().readReceipts) {
    const call = { name: "receipt", method: "POST", body: {} } as const;
    // People see that the bot has read the message. Nothing depends on it.
    server.call({ ...call, path: path`client/v3/rooms/${id}/receipt/m.read/${read}` }).catch(() => {});
  }
  const last = string(events.at(-1)?.event_id);
  if (last !== undefined) await rooms.set(id, { last, invited: undefined });
}
