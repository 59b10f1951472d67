/** What the bot writes, changes and removes. Each send has a key, so that the homeserver shows a repetition once. */
import { openAsBlob } from "node:fs";
import {
  type Address,
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  editingPreview,
  growingMarkdown,
  type Json,
  type MarkupMessage,
  type Part,
  type Receipt,
} from "service-gateway/sdk/channel";
import { type Body, contentOf, markup, type Place, textBody } from "./content.ts";
import { type Homeserver, list, path, record, string } from "./homeserver.ts";
import type { Options } from "./options.ts";
import type { Rooms } from "./rooms.ts";

/** Homeservers allow a few messages at once, and then one in five seconds by default. */
const previewEveryMs = 3_000;

const personPattern = /^@[^\s:,]+:[A-Za-z0-9.\-:[\]]+$/;
const roomPattern = /^![^\s,]+$/;
const eventPattern = /^\$[^\s,]+$/;

interface SendingOptions {
  readonly account: ChannelAccount<Options>;
  readonly options: () => Options;
  readonly server: Homeserver;
  readonly rooms: Rooms;
  readonly me: (signal?: AbortSignal) => Promise<string>;
}

export type Sending = Required<Pick<ChannelConnection, "send" | "remove" | "react" | "typing" | "preview" | "resolve">>;

export function createSending({ account, options, server, rooms, me }: SendingOptions): Sending {
  /** Until when the homeserver wants no more messages. */
  let heldUntil = 0;
  /** Rooms in which people see that the bot is typing. */
  const typing = new Set<string>();

  async function roomOf(chat: string, signal: AbortSignal): Promise<string> {
    if (roomPattern.test(chat)) return chat;
    if (!personPattern.test(chat))
      throw new ChannelError("chat_not_found", { detail: `${chat} is not the id of a room or of a person` });
    return await rooms.roomOf(chat, signal);
  }

  /** The room of a chat, if the bot may write there. */
  async function openRoom(chat: string, signal: AbortSignal): Promise<string> {
    const room = await roomOf(chat, signal);
    if ((await rooms.get(room)).encrypted === true)
      throw new ChannelError("room_encrypted", { detail: `${room} is encrypted` });
    return room;
  }

  async function put(
    room: string,
    type: string,
    key: string,
    content: { readonly [key: string]: Json },
    signal: AbortSignal,
  ) {
    try {
      const { event_id: id } = await server.call({
        ...{ name: `send ${type}`, method: "PUT", body: content, signal },
        path: path`client/v3/rooms/${room}/send/${type}/${key}`,
      });
      if (typeof id === "string" && id !== "") return id;
      throw new ChannelError("bad_answer", {
        retryable: true,
        fate: "unknown",
        detail: "send: the answer names no event",
      });
    } catch (error) {
      if (error instanceof ChannelError && error.reason === "flood_wait")
        heldUntil = account.now() + (error.retryAfterMs ?? previewEveryMs);
      throw error;
    }
  }

  async function upload(
    { path: file, url, name, info }: NonNullable<Body["file"]>,
    signal: AbortSignal,
  ): Promise<string> {
    if (typeof url === "string") return url;
    const type = string(record(info).mimetype) ?? "application/octet-stream";
    const content = await openAsBlob(String(file), { type }).catch((cause: unknown) => {
      throw new ChannelError("media_missing", { detail: "the file cannot be read", cause });
    });
    const { content_uri: found } = await server.call({
      ...{
        name: "upload",
        method: "POST",
        path: "media/v3/upload",
        query: { filename: String(name) },
        file: content,
        signal,
      },
    });
    return String(found);
  }

  /** Whether an edit would be shown: the homeserver takes edits of removed messages, too. */
  async function isThere(room: string, id: string, signal: AbortSignal): Promise<boolean> {
    try {
      const event = await server.call({ name: "event", path: path`client/v3/rooms/${room}/event/${id}`, signal });
      return record(event.unsigned).redacted_because === undefined && Object.keys(record(event.content)).length > 0;
    } catch (error) {
      if (error instanceof ChannelError && error.reason === "chat_not_found") return false;
      throw error;
    }
  }

  async function redact(room: string, id: string, signal: AbortSignal): Promise<void> {
    await server.call({
      ...{ name: "redact", method: "PUT", body: {}, signal },
      // The same for every attempt to remove the message.
      path: path`client/v3/rooms/${room}/redact/${id}/${`remove.${id}`}`,
    });
  }

  async function stopTyping(room: string): Promise<void> {
    if (typing.delete(room)) await showTyping(room, false);
  }

  async function showTyping(room: string, isTyping: boolean): Promise<void> {
    await server.call({
      ...{ name: "typing", method: "PUT", body: isTyping ? { typing: true, timeout: 15_000 } : { typing: false } },
      path: path`client/v3/rooms/${room}/typing/${await me()}`,
    });
  }

  async function send(part: Part, { chat, thread }: Address, signal: AbortSignal): Promise<Receipt> {
    const { replaces, replyTo, key = account.newId() } = part;
    const body = part.body as Body;
    const room = await openRoom(chat, signal);
    const isEdit = replaces !== undefined && (await isThere(room, replaces, signal));
    if (replaces !== undefined && !isEdit && part.inPlace === true)
      throw new ChannelError("message_gone", { detail: "the message to change was removed" });
    const url = body.file === undefined ? undefined : await upload(body.file, signal);
    const place: Place = { thread, replyTo, isNotice: options().notices, ...(isEdit && { replaces }) };
    const messageId = await put(room, "m.room.message", key, contentOf(body, place, url), signal);
    stopTyping(room).catch(() => {});
    return { messageId: isEdit ? replaces : messageId };
  }

  return {
    send,
    async remove(id, { chat }, signal) {
      if (!eventPattern.test(id)) throw new ChannelError("message_gone");
      await redact(await roomOf(chat, signal), id, signal);
    },
    async react(id, emoji, { chat }, patience = account.signal) {
      if (!eventPattern.test(id)) throw new ChannelError("message_gone");
      const room = await openRoom(chat, patience);
      const bot = await me(patience);
      const relations = await server.call({
        name: "relations",
        path: path`client/v1/rooms/${room}/relations/${id}/m.annotation/m.reaction`,
        query: { limit: "100" },
      });
      const own = list(relations.chunk)
        .map(record)
        .filter(({ sender }) => sender === bot);
      const keyOf = (one: unknown) => record(record(record(one).content)["m.relates_to"]).key;
      for (const one of own) if (keyOf(one) !== emoji) await redact(room, String(one.event_id), account.signal);
      if (emoji === null || own.some((one) => keyOf(one) === emoji)) return;
      const content = { "m.relates_to": { rel_type: "m.annotation", event_id: id, key: emoji } };
      await put(room, "m.reaction", account.newId(), content, account.signal);
    },
    async typing({ chat }) {
      if (heldUntil > account.now()) return;
      const room = await openRoom(chat, account.signal);
      await showTyping(room, true);
      typing.add(room);
    },
    preview({ chat, thread }, how) {
      const { trigger, key = account.newId() } = how;
      /** How often the message at each place was sent: one that was removed must not be taken for a new one. */
      const posts: number[] = [];
      // In a direct chat, the room of the first message is that of all.
      let room: string | undefined;
      const place = async (signal: AbortSignal) => {
        room ??= await openRoom(chat, signal);
        return room;
      };
      const post = async (message: MarkupMessage, at: Omit<Place, "isNotice">, id: string, signal: AbortSignal) =>
        await put(
          await place(signal),
          "m.room.message",
          id,
          contentOf(textBody(message), { ...at, isNotice: options().notices }),
          signal,
        );
      return editingPreview<MarkupMessage>(
        {
          messagesOf: growingMarkdown(markup),
          textOf: ({ markup: text }) => text,
          post(message, index, signal) {
            const replyTo = index === 0 && chat.startsWith("!") && thread === undefined ? trigger : undefined;
            const count = posts[index] ?? 0;
            posts[index] = count + 1;
            return post(message, { thread, replyTo }, `${key}.${index}.${count}`, signal);
          },
          edit: async (replaces, message, signal) => void (await post(message, { replaces }, account.newId(), signal)),
          remove: async (id, signal) => redact(await place(signal), id, signal),
        },
        {
          ...how,
          log: account.log,
          pace: {
            everyMs: previewEveryMs,
            delay: () => Math.max(0, heldUntil - account.now()),
            hold: (ms) => {
              heldUntil = account.now() + ms;
            },
          },
        },
      );
    },
    async resolve(target) {
      if (roomPattern.test(target) || personPattern.test(target)) return target;
      if (!/^#[^\s,]+:[^\s,]+$/.test(target))
        throw new ChannelError("chat_not_found", { detail: `${target} is not an id or an address of Matrix` });
      const found = await server.call({ name: "directory", path: path`client/v3/directory/room/${target}` });
      return String(found.room_id);
    },
  };
}
