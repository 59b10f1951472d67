/** What the bot writes, changes and removes. Each send has a key, so that the homeserver shows a repetition once. */
import {
  type Address,
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  type Part,
  type Receipt,
} from "service-gateway/sdk/channel";
import { type Body, contentOf, type Place } from "./content.ts";
import { type Homeserver, list, path, record } from "./homeserver.ts";
import type { Options } from "./options.ts";
import { createPosting, personPattern, roomPattern } from "./posting.ts";
import { createPreviews } from "./preview.ts";
import type { Rooms } from "./rooms.ts";

interface SendingOptions {
  readonly account: ChannelAccount<Options>;
  readonly options: () => Options;
  readonly server: Homeserver;
  readonly rooms: Rooms;
  readonly me: (signal?: AbortSignal) => Promise<string>;
}

export type Sending = Required<Pick<ChannelConnection, "send" | "remove" | "react" | "typing" | "preview" | "resolve">>;

const isEvent = (id: string): boolean => /^\$[^\s,]+$/.test(id);

export function createSending({ account, options, server, rooms, me }: SendingOptions): Sending {
  const posting = createPosting(account, server, rooms);
  /** Rooms in which people see that the bot is typing. */
  const typing = new Set<string>();

  async function showTyping(room: string, isTyping: boolean): Promise<void> {
    await server.call({
      ...{ name: "typing", method: "PUT", body: isTyping ? { typing: true, timeout: 15_000 } : { typing: false } },
      path: path`client/v3/rooms/${room}/typing/${await me()}`,
    });
  }

  async function send(part: Part, { chat, thread }: Address, signal: AbortSignal): Promise<Receipt> {
    const { replaces, replyTo, key = account.newId() } = part;
    const body = part.body as Body;
    const room = await posting.openRoom(chat, signal);
    const isEdit = replaces !== undefined && (await posting.isThere(room, replaces, signal));
    if (replaces !== undefined && !isEdit && part.inPlace === true)
      throw new ChannelError("message_gone", { detail: "the message to change was removed" });
    const url = body.file === undefined ? undefined : await posting.upload(body.file, signal);
    const place: Place = { thread, replyTo, isNotice: options().notices, ...(isEdit && { replaces }) };
    const content = contentOf(body, place, url);
    const messageId = await posting.put(room, { type: "m.room.message", key, content }, signal);
    if (typing.delete(room)) showTyping(room, false).catch(() => {});
    return { messageId: isEdit ? replaces : messageId };
  }

  return {
    send,
    async remove(id, { chat }, signal) {
      if (!isEvent(id)) throw new ChannelError("message_gone");
      await posting.redact(await posting.roomOf(chat, signal), id, signal);
    },
    async react(id, emoji, { chat }, patience = account.signal) {
      if (!isEvent(id)) throw new ChannelError("message_gone");
      const room = await posting.openRoom(chat, patience);
      const bot = await me(patience);
      const { chunk } = await server.call({
        name: "relations",
        path: path`client/v1/rooms/${room}/relations/${id}/m.annotation/m.reaction`,
        query: { limit: "100" },
      });
      const own = list(chunk).flatMap((one) => {
        const { sender, event_id: event, content } = record(one);
        return sender === bot ? [{ event: String(event), key: record(record(content)["m.relates_to"]).key }] : [];
      });
      for (const { event, key } of own) if (key !== emoji) await posting.redact(room, event, account.signal);
      if (emoji === null || own.some(({ key }) => key === emoji)) return;
      const content = { "m.relates_to": { rel_type: "m.annotation", event_id: id, key: emoji } };
      await posting.put(room, { type: "m.reaction", key: account.newId(), content }, account.signal);
    },
    async typing({ chat }) {
      if (posting.delay() > 0) return;
      const room = await posting.openRoom(chat, account.signal);
      await showTyping(room, true);
      typing.add(room);
    },
    preview: createPreviews(account, options, posting),
    async resolve(target) {
      if (roomPattern.test(target) || personPattern.test(target)) return target;
      if (!/^#[^\s,]+:[^\s,]+$/.test(target))
        throw new ChannelError("chat_not_found", { detail: `${target} is not an id or an address of Matrix` });
      const found = await server.call({ name: "directory", path: path`client/v3/directory/room/${target}` });
      return String(found.room_id);
    },
  };
}
