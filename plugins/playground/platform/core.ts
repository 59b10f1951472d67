/** The shared core of all bot methods and people's actions. */
import type { Feed } from "./feed.ts";
import type { FileStore } from "./files.ts";
import type { Limiter } from "./limits.ts";
import type { Upload } from "./multipart.ts";
import type { RawParams } from "./params.ts";
import type { Webhook } from "./webhook.ts";
import type { Message, Reaction, UpdateKind, User } from "./wire.ts";
import type { Bot, Room, World } from "./world.ts";

/** An event on the platform, for tests and the page. `room` is the room's key. */
export type PlatformEvent =
  | { readonly type: "message" | "edit"; readonly room: string; readonly message: Message }
  | { readonly type: "delete"; readonly room: string; readonly messageId: number }
  | {
      readonly type: "reaction";
      readonly room: string;
      readonly messageId: number;
      readonly from: User;
      readonly reactions: readonly Reaction[];
    }
  | {
      readonly type: "action";
      readonly room: string;
      readonly from: User;
      readonly action: string;
      readonly thread?: number;
    }
  | {
      readonly type: "notice";
      readonly room: string;
      readonly personId: number;
      readonly callbackId: string;
      readonly text?: string;
      readonly alert: boolean;
      readonly url?: string;
    }
  | { readonly type: "menu"; readonly botId: number }
  | { readonly type: "room"; readonly room: string }
  | { readonly type: "call"; readonly seq: number };

/** A button press that waits for its answer. */
export interface OpenPress {
  readonly botId: number;
  readonly personId: number;
  readonly room: string;
  readonly at: number;
}

export interface Core {
  readonly world: World;
  readonly feeds: ReadonlyMap<number, Feed>;
  readonly webhooks: ReadonlyMap<number, Webhook>;
  readonly files: FileStore;
  readonly limiter: Limiter;
  readonly presses: Map<string, OpenPress>;
  now(): number;
  seconds(): number;
  newId(): string;
  emit(event: PlatformEvent): void;
}

/** One call of a bot. */
export interface Call {
  readonly core: Core;
  readonly bot: Bot;
  readonly params: RawParams;
  readonly files: Readonly<Record<string, Upload>>;
  /** Registers a function to call if the client closes the connection before it has an answer. */
  onGone(leave: () => void): void;
}

export type Method = (call: Call) => unknown;

/** Stores and shows a message. The caller decides which bots receive an update. */
export function post(core: Core, room: Room, message: Message): Message {
  core.world.keep(room, message);
  core.emit({ type: "message", room: room.key, message });
  return message;
}

/** Replaces a message with its edited version. */
export function replace(core: Core, room: Room, message: Message): Message {
  room.messages.set(message.message_id, message);
  core.emit({ type: "edit", room: room.key, message });
  return message;
}

/** Sends an update to the bots of a room for which `sees` is true, but never to the sender. */
export function pushTo(core: Core, room: Room, kind: UpdateKind, body: unknown, sees: (bot: Bot) => boolean): void {
  for (const bot of core.world.bots) {
    const status = room.members.get(bot.user.id);
    if (status === undefined || status === "left" || status === "kicked") continue;
    if (sees(bot)) core.feeds.get(bot.user.id)?.push(kind, body);
  }
}

/** A message as quoted in a reply, without its own quoted message. */
export function withoutReply(message: Message): Message {
  const { reply_to_message: _dropped, ...rest } = message;
  return rest;
}
