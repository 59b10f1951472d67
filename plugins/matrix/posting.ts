/** The calls that write into a room. */
import { openAsBlob } from "node:fs";
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { Body, Content } from "./content.ts";
import { type Homeserver, path, record, string } from "./homeserver.ts";
import type { Rooms } from "./rooms.ts";

/** Homeservers allow a few messages at once, and then one in five seconds by default. */
export const previewEveryMs = 3_000;

export const personPattern = /^@[^\s:,]+:[A-Za-z0-9.\-:[\]]+$/;
export const roomPattern = /^![^\s,]+$/;

export interface Posting {
  /** The room of a chat. */
  roomOf(chat: string, signal: AbortSignal): Promise<string>;
  /** The room of a chat, if the bot may write there. */
  openRoom(chat: string, signal: AbortSignal): Promise<string>;
  /** Sends an event, and resolves with its id. An event with a known key is not sent again. */
  put(room: string, event: Outgoing, signal: AbortSignal): Promise<string>;
  /** The address of a file, which is uploaded if it is not there yet. */
  upload(file: NonNullable<Body["file"]>, signal: AbortSignal): Promise<string>;
  /** Whether an edit would be shown: the homeserver takes edits of removed messages, too. */
  isThere(room: string, id: string, signal: AbortSignal): Promise<boolean>;
  redact(room: string, id: string, signal: AbortSignal): Promise<void>;
  /** Milliseconds until the homeserver takes more messages. */
  delay(): number;
  hold(ms: number): void;
}

interface Outgoing {
  readonly type: "m.room.message" | "m.reaction";
  readonly key: string;
  readonly content: Content;
}

export function createPosting(account: Pick<ChannelAccount, "now">, server: Homeserver, rooms: Rooms): Posting {
  let heldUntil = 0;

  async function roomOf(chat: string, signal: AbortSignal): Promise<string> {
    if (roomPattern.test(chat)) return chat;
    if (!personPattern.test(chat))
      throw new ChannelError("chat_not_found", { detail: `${chat} is not the id of a room or of a person` });
    return await rooms.roomOf(chat, signal);
  }

  function hold(ms: number): void {
    heldUntil = account.now() + ms;
  }

  return {
    roomOf,
    hold,
    delay: () => Math.max(0, heldUntil - account.now()),
    async openRoom(chat, signal) {
      const room = await roomOf(chat, signal);
      if ((await rooms.get(room)).encrypted === true)
        throw new ChannelError("room_encrypted", { detail: `${room} is encrypted` });
      return room;
    },
    async put(room, { type, key, content }, signal) {
      const call = { name: `send ${type}`, method: "PUT", body: content, signal } as const;
      const sending = server.call({ ...call, path: path`client/v3/rooms/${room}/send/${type}/${key}` });
      const { event_id: id } = await sending.catch((error: unknown) => {
        if (error instanceof ChannelError && error.reason === "flood_wait") hold(error.retryAfterMs ?? previewEveryMs);
        throw error;
      });
      if (typeof id === "string" && id !== "") return id;
      const detail = "send: the answer names no event";
      throw new ChannelError("bad_answer", { retryable: true, fate: "unknown", detail });
    },
    async upload({ path: file, url, name, info }, signal) {
      if (typeof url === "string") return url;
      const type = string(record(info).mimetype) ?? "application/octet-stream";
      const content = await openAsBlob(String(file), { type }).catch((cause: unknown) => {
        throw new ChannelError("media_missing", { detail: "the file cannot be read", cause });
      });
      const call = { name: "upload", method: "POST", path: "media/v3/upload", file: content, signal } as const;
      return String((await server.call({ ...call, query: { filename: String(name) } })).content_uri);
    },
    async isThere(room, id, signal) {
      try {
        const event = await server.call({ name: "event", path: path`client/v3/rooms/${room}/event/${id}`, signal });
        return record(event.unsigned).redacted_because === undefined && Object.keys(record(event.content)).length > 0;
      } catch (error) {
        if (error instanceof ChannelError && error.reason === "chat_not_found") return false;
        throw error;
      }
    },
    async redact(room, id, signal) {
      const call = { name: "redact", method: "PUT", body: {}, signal } as const;
      // The key is the same for every attempt to remove the message.
      await server.call({ ...call, path: path`client/v3/rooms/${room}/redact/${id}/${`remove.${id}`}` });
    },
  };
}
