/** The place and the sender of an update of any kind. */
import type { Json } from "service-gateway/sdk";
import type { ChannelInbound, InboundChat, InboundSender } from "service-gateway/sdk/channel";
import { type Fields, id, record, text } from "./fields.ts";

export type { ChannelInbound };

export interface BotIdentity {
  readonly id: string;
  /** Without the `@`; unknown until the platform was asked once. */
  readonly username?: string;
}

export function parseChat(chat: Fields | undefined): InboundChat | undefined {
  const chatId = id(chat?.id);
  if (chat === undefined || chatId === undefined) return undefined;
  const kind = chat.type === "private" ? "direct" : chat.type === "channel" ? "channel" : "group";
  const title = text(chat.title);
  return { id: chatId, kind, ...(title && { title }), ...(chat.is_forum === true && { threaded: true as const }) };
}

/**
 * The topic of a message: in a forum there is always one (General is 1), in a direct chat the stated one, in plain
 * groups none.
 */
export function threadOf(message: Fields, chat: Fields | undefined): string | undefined {
  const thread = id(message.message_thread_id);
  if (chat?.type === "private") return thread;
  if (chat?.is_forum === true) return message.is_topic_message === true ? (thread ?? "1") : "1";
  return message.is_topic_message === true ? thread : undefined;
}

function nameOf(user: Fields): string | undefined {
  return [text(user.first_name), text(user.last_name)].filter(Boolean).join(" ") || text(user.title);
}

/** Chats have a type and users have none. A message written as a chat has no identifiable user. */
export function parseSender(user: Fields | undefined): InboundSender | undefined {
  const userId = id(user?.id);
  if (user === undefined || userId === undefined) return undefined;
  const name = nameOf(user);
  const username = text(user.username);
  return {
    id: userId,
    ...(name && { name }),
    ...(username && { username }),
    ...(user.is_bot === true && { isBot: true }),
    ...(text(user.type) !== undefined && { anonymous: true as const }),
  };
}

export function labelOf(user: Fields | undefined): string | undefined {
  if (user === undefined) return undefined;
  const name = nameOf(user);
  const username = text(user.username);
  if (name && username) return `${name} (@${username})`;
  return name ?? (username ? `@${username}` : id(user.id));
}

/**
 * If the sender writes as a chat (a channel, an anonymous administrator), it is that chat and not the substitute user.
 */
export function senderOf(message: Fields): Fields | undefined {
  return (
    record(message.sender_chat) ??
    record(message.from) ??
    (record(message.chat)?.type === "channel" ? record(message.chat) : undefined)
  );
}

const chatTypes: ReadonlySet<Json | undefined> = new Set(["private", "group", "supergroup", "channel"]);

/** The chat of an update, whatever its kind. */
function chatOf(update: Fields): Fields | undefined {
  const press = record(update.callback_query);
  const holder =
    record(update.message) ??
    record(update.edited_message) ??
    record(update.channel_post) ??
    record(press?.message) ??
    record(update.message_reaction) ??
    record(update.my_chat_member);
  return record(holder?.chat);
}

/**
 * Whether the chat is of a kind for which no access policy exists: neither the rules for direct chats nor those for
 * groups fit.
 */
export function isUnknownChat(update: Fields): boolean {
  const chat = chatOf(update);
  return id(chat?.id) !== undefined && !chatTypes.has(chat?.type);
}

/**
 * Whether the chat contains the direct messages of a channel: a supergroup by its type, but each of its topics is the
 * private conversation of one person, and the platform takes no reply without the topic.
 */
export function isChannelInbox(update: Fields): boolean {
  return chatOf(update)?.is_direct_messages === true;
}

/** The chat and its topic, if any: the unit in which updates must be handled in order. */
export function laneOf(raw: Json, account: string): string {
  const update = record(raw) ?? {};
  const press = record(update.callback_query);
  const holder =
    record(update.message) ??
    record(update.edited_message) ??
    record(update.channel_post) ??
    record(press?.message) ??
    {};
  const chat = chatOf(update);
  const thread = record(update.message_reaction) ? (chat?.is_forum === true ? "1" : undefined) : threadOf(holder, chat);
  return `botchat:${account}:${id(chat?.id) ?? "unknown"}${thread === undefined ? "" : `:${thread}`}`;
}
