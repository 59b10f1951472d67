/** A message as a person's app sends it: its destination, its content, and the bots that it is meant for. */
import { type Core, withoutReply } from "../core.ts";
import { detectEntities } from "../entities.ts";
import { type MediaKind, mediaFields } from "../methods/media.ts";
import { replyThread } from "../rooms.ts";
import type { Entity, Message } from "../wire.ts";
import type { Room } from "../world.ts";

export interface SentMedia {
  readonly kind: MediaKind;
  readonly bytes: Buffer;
  readonly fileName: string;
  readonly mimeType: string;
  readonly duration?: number;
  readonly emoji?: string;
}

export interface SayOptions {
  /** Entities added before those that the platform detects. */
  readonly entities?: readonly Entity[];
  readonly replyTo?: number;
  /** The part of the quoted message to quote. */
  readonly quote?: string;
  /** Topic id; absent: the General topic. */
  readonly thread?: number;
  readonly media?: SentMedia;
  /** Files with the same id form an album. */
  readonly album?: string;
  readonly forwardOrigin?: Readonly<Record<string, unknown>>;
  /** The bot whose direct chat is meant; absent: the first bot. */
  readonly bot?: string;
}

/**
 * The topic and the quoted message. In a topic, the platform represents a message without a reply as a reply to the
 * topic's beginning.
 */
export function whereOf(room: Room, options: SayOptions): Partial<Message> {
  const reply = options.replyTo === undefined ? undefined : room.messages.get(options.replyTo);
  if (options.replyTo !== undefined && reply === undefined)
    throw new Error(`there is no message ${options.replyTo} to answer`);
  const position = options.quote === undefined ? -1 : (reply?.text ?? reply?.caption ?? "").indexOf(options.quote);
  const quote =
    options.quote === undefined || position === -1
      ? {}
      : { quote: { text: options.quote, position, is_manual: true as const } };
  const answered = reply === undefined ? {} : { reply_to_message: withoutReply(reply), ...quote };
  if (room.chat.is_forum !== true) return { ...replyThread(room, reply), ...answered };
  const thread = options.thread ?? reply?.message_thread_id ?? 1;
  const topic = room.topics.get(thread);
  if (topic === undefined) throw new Error(`there is no topic ${thread} in chat ${room.chat.id}`);
  if (topic.closed) throw new Error(`topic ${thread} is closed`);
  if (thread === 1) return answered;
  const root = room.messages.get(thread);
  return {
    message_thread_id: thread,
    is_topic_message: true,
    ...(reply === undefined && root !== undefined ? { reply_to_message: root } : answered),
  };
}

export function contentOf(core: Core, text: string, options: SayOptions): Partial<Message> {
  const { text: shown, entities } = detectEntities({ text, entities: options.entities ?? [] });
  const forward = options.forwardOrigin === undefined ? {} : { forward_origin: options.forwardOrigin };
  if (options.media === undefined) return { text: shown, ...(entities.length === 0 ? {} : { entities }), ...forward };
  const { kind, duration, emoji, ...upload } = options.media;
  const extra = { duration, emoji };
  return {
    ...mediaFields(kind, core.files.add(kind, upload), extra),
    ...(shown === "" ? {} : { caption: shown }),
    ...(entities.length === 0 ? {} : { caption_entities: entities }),
    ...(options.album === undefined ? {} : { media_group_id: options.album }),
    ...forward,
  };
}
