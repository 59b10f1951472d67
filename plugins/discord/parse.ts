/** What people do, as messages. Pure and total. */
import type { Json } from "service-gateway/sdk";
import type { ChannelInbound, InboundChat, InboundSender, Parsed } from "service-gateway/sdk/channel";
import { readEvent, type StoredEvent, senderOf } from "./event.ts";
import { type Fields, id, list, number, record, records, text } from "./fields.ts";
import { filesOf, placeholders } from "./inbound-files.ts";
import { parseInteraction } from "./interaction.ts";
import { timeOf } from "./snowflake.ts";

/** DEFAULT and REPLY. All others are commands, which arrive as interactions, and announcements of the platform. */
const written: readonly number[] = [0, 19];
/** A message that repeats the first one of a thread. */
const forward = 1;

export function parse(raw: Json): Parsed {
  const event = readEvent(raw);
  switch (event?.type) {
    case "MESSAGE_CREATE":
      return parseMessage(event);
    case "MESSAGE_UPDATE":
      return parseEdit(event);
    case "MESSAGE_DELETE":
      return parseDeletion(event);
    case "MESSAGE_REACTION_ADD":
      return parseReaction(event);
    case "INTERACTION_CREATE":
      return parseInteraction(event);
    default:
      return undefined;
  }
}

/** The text with names in place of ids, without the bot at its beginning, and whether it names the bot. */
function contentOf(message: Fields, { bot, role }: StoredEvent): { readonly text: string; readonly names: boolean } {
  const content = text(message.content) ?? "";
  const isBot = (mark: string, each: string) => (mark === "&" ? each === role : each === bot);
  const names = new Map(
    records(message.mentions).map((user) => [id(user.id), senderOf(user, record(user.member))?.name] as const),
  );
  let isNamed = false;
  const named = content.replace(/<@([!&]?)(\d{1,20})>/g, (whole, mark: string, each: string, at: number) => {
    const own = isBot(mark, each);
    isNamed ||= own;
    if (own && content.slice(0, at).trim() === "") return "";
    const name = mark === "&" ? undefined : names.get(each);
    return name === undefined ? whole : `@${name}`;
  });
  return { text: named.replace(/<(a?):(\w{1,32}):\d{1,20}>/g, ":$2:").trim(), names: isNamed };
}

/** The words of a message: its own, those of what it forwards, or what stands for its files. */
function wordsOf(message: Fields, event: StoredEvent) {
  const forwarded = number(record(message.message_reference)?.type) === forward;
  const snapshot = record(record(list(message.message_snapshots)[0])?.message);
  const shown = forwarded && snapshot !== undefined ? snapshot : message;
  const own = contentOf(shown, event);
  const poll = text(record(record(shown.poll)?.question)?.text);
  const media = filesOf(shown, {
    channel: id(message.channel_id) ?? "",
    message: id(message.id) ?? "",
  });
  const bare = own.names
    ? `@${records(message.mentions).find((user) => id(user.id) === event.bot)?.username ?? "bot"}`
    : "";
  const words = own.text || (poll ?? "") || placeholders(shown, media) || bare;
  return { ...own, text: words, media, forwarded: forwarded && snapshot !== undefined };
}

function base(event: StoredEvent): { readonly chat: InboundChat; readonly sender: InboundSender } | undefined {
  const sender = senderOf(record(event.data.author), record(event.data.member));
  return event.chat === undefined || sender === undefined ? undefined : { chat: event.chat, sender };
}

function parseMessage(event: StoredEvent): Parsed {
  const { data, bot } = event;
  const messageId = id(data.id);
  const at = base(event);
  if (at === undefined || messageId === undefined) return undefined;
  if (at.sender.id === bot) return { silent: "own_message" };
  if (!written.includes(number(data.type) ?? 0)) return { silent: "service_message" };
  const { text: words, names, media, forwarded } = wordsOf(data, event);
  const isDirect = at.chat.kind === "direct";
  if (words === "") return isDirect ? { ...at, text: "", messageId, unreadable: true } : { silent: "no_text" };
  const answered = record(data.referenced_message);
  const mention = isDirect || names || id(record(answered?.author)?.id) === bot || mentions(data, bot);
  return {
    ...at,
    text: words,
    media,
    messageId,
    mention,
    ...(names && { mentionedByName: true }),
    timestamp: timeOf(messageId),
    ...(answered !== undefined && { replyTo: answerOf(answered, event) }),
    ...(forwarded && { forward: { from: "another chat" } }),
  };
}

const mentions = (message: Fields, bot: string): boolean =>
  records(message.mentions).some((user) => id(user.id) === bot);

function answerOf(message: Fields, event: StoredEvent): NonNullable<ChannelInbound["replyTo"]> {
  const { text: words, media } = wordsOf(message, event);
  const [messageId, sender] = [id(message.id), senderOf(record(message.author))];
  return {
    ...(messageId !== undefined && { messageId }),
    ...(sender !== undefined && { sender: sender.name ?? sender.id }),
    ...(words !== "" && { text: words }),
    ...(media.length > 0 && { media }),
  };
}

/** The platform reports its own changes as well, such as the preview of a link. */
function parseEdit(event: StoredEvent): Parsed {
  const message = parseMessage(event);
  if (message === null || message === undefined || "silent" in message) return message;
  if (text(event.data.edited_timestamp) === undefined) return { silent: "edit_changes_nothing" };
  return { ...message, kind: "edit", timestamp: Date.parse(String(event.data.edited_timestamp)) || 0 };
}

/**
 * The platform does not say who has deleted a message. It is gone for everyone, so it counts as deleted by its writer,
 * also if a moderator did it.
 */
function parseDeletion({ data, chat, writer, bot }: StoredEvent): Parsed {
  const messageId = id(data.id);
  if (messageId === undefined || chat === undefined) return undefined;
  if (writer === undefined) return { silent: "service_message" };
  if (writer === bot) return { silent: "own_message" };
  return { kind: "delete", chat, sender: { id: writer }, text: "", messageId };
}

function parseReaction({ data, chat, bot }: StoredEvent): Parsed {
  const messageId = id(data.message_id);
  const member = record(data.member);
  const sender = senderOf(record(member?.user) ?? { id: data.user_id }, member);
  if (chat === undefined || sender === undefined || messageId === undefined) return { silent: "reaction_without_chat" };
  if (sender.id === bot) return { silent: "own_reaction" };
  const { name, id: custom } = record(data.emoji) ?? {};
  const emoji = custom === undefined || custom === null ? String(text(name) ?? "?") : `:${text(name) ?? custom}:`;
  const who = (sender.name ?? sender.id).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return {
    kind: "reaction",
    chat,
    sender,
    text: `Reaction added: ${emoji} by ${who} on message ${messageId}`,
    mention: false,
    messageId,
  };
}
