/** Parses messages, edited messages and channel posts; several gathered ones become one. */
import type { Inbound, Json } from "service-gateway/sdk";
import type { ChannelInbound, InboundChat, Silent } from "service-gateway/sdk/channel";
import { type Content, parseContent } from "./content.ts";
import { readEntities } from "./entities.ts";
import { type Fields, id, list, number, record, text } from "./fields.ts";
import { joinTexts, type Version } from "./gathered.ts";
import { type BotIdentity, labelOf, parseChat, parseSender, senderOf, threadOf } from "./place.ts";
import { namedInRich } from "./rich-message.ts";

function repliedTo(message: Fields): Fields | undefined {
  const reply = record(message.reply_to_message);
  // In a topic every message "replies" to the service message that opened it.
  return reply === undefined || record(reply.forum_topic_created) ? undefined : reply;
}

/** The task of a checklist, or the option of a poll, that a message replies to. */
function answeredItem(message: Fields, answered: Fields | undefined): string | undefined {
  const task = id(message.reply_to_checklist_task_id);
  const option = text(message.reply_to_poll_option_id);
  const items =
    task !== undefined
      ? record(answered?.checklist)?.tasks
      : option !== undefined
        ? record(answered?.poll)?.options
        : undefined;
  const found = list(items)
    .map(record)
    .find((each) => (task === undefined ? text(each?.persistent_id) === option : id(each?.id) === task));
  return text(found?.text);
}

function parseReply(message: Fields): Inbound["replyTo"] {
  const reply = repliedTo(message);
  const outside = record(message.external_reply);
  const quote = text(record(message.quote)?.text) ?? answeredItem(message, reply ?? outside);
  const story = record(message.reply_to_story);
  if (story !== undefined && reply === undefined && outside === undefined)
    return { ...labelled(record(story.chat)), text: "<media:story>" };
  if (reply === undefined && outside === undefined && quote === undefined) return undefined;
  const messageId = id(reply?.message_id);
  const sender = reply ? labelOf(senderOf(reply)) : originOf(record(outside?.origin));
  const answered = reply ?? outside;
  const content = answered && parseContent(answered);
  const { text: quotedText = "", media = [] } = content === undefined || "silent" in content ? {} : content;
  return {
    ...(messageId && { messageId }),
    ...(sender && { sender }),
    ...(quotedText && { text: quotedText }),
    ...(quote && { quote }),
    ...(media.length > 0 && { media }),
  };
}

function labelled(chat: Fields | undefined): { readonly sender?: string } {
  const sender = labelOf(chat);
  return sender === undefined ? {} : { sender };
}

function originOf(origin: Fields | undefined): string | undefined {
  if (origin === undefined) return undefined;
  const chat = record(origin.sender_chat) ?? record(origin.chat);
  const signature = text(origin.author_signature);
  const label = text(origin.sender_user_name) ?? labelOf(record(origin.sender_user)) ?? labelOf(chat);
  return label === undefined ? undefined : `${label}${signature ? ` (${signature})` : ""}`;
}

/** What a person sends through an inline bot has the words of that bot, like a message that is forwarded. */
function parseForward(message: Fields): Inbound["forward"] {
  const origin = record(message.forward_origin);
  const inlineBot = record(message.via_bot);
  if (origin === undefined) return inlineBot && { from: `the bot ${labelOf(inlineBot) ?? "unknown"}` };
  const seconds = number(origin.date);
  return { from: originOf(origin) ?? "unknown", ...(seconds !== undefined && { timestamp: seconds * 1_000 }) };
}

/** The texts of a message that can contain mentions, each with its entities. */
function textsOf(message: Fields): readonly (readonly [source: string, entities: Json | undefined])[] {
  const written = text(message.text);
  const poll = record(message.poll);
  const checklist = record(message.checklist);
  return [
    written === undefined
      ? ([text(message.caption) ?? "", message.caption_entities] as const)
      : ([written, message.entities] as const),
    ...(poll === undefined ? [] : [[text(poll.question) ?? "", poll.question_entities] as const]),
    ...(checklist === undefined ? [] : [[text(checklist.title) ?? "", checklist.title_entities] as const]),
  ];
}

/** Whether an entity of the texts names the bot. Text that merely looks like its name does not. */
function isNamed(message: Fields, bot: BotIdentity): boolean {
  const handle = bot.username === undefined ? undefined : `@${bot.username.toLowerCase()}`;
  const named = textsOf(message).some(([source, entities]) =>
    readEntities(source, entities).some(({ type, start, end, fields }) => {
      const mentioned = source.slice(start, end).toLowerCase();
      if (type === "mention") return mentioned === handle;
      if (type === "text_mention") return id(record(fields.user)?.id) === bot.id;
      return (
        type === "bot_command" &&
        handle !== undefined &&
        mentioned.endsWith(handle) &&
        mentioned.indexOf("@") === mentioned.length - handle.length
      );
    }),
  );
  return named || namedInRich(record(message.rich_message), bot);
}

/**
 * Whether the message replies to one of the bot's. If that is in another topic or chat, the platform names only its
 * origin.
 */
function answersBot(message: Fields, bot: BotIdentity): boolean {
  const outside = record(record(message.external_reply)?.origin);
  return id(record(repliedTo(message)?.from)?.id) === bot.id || id(record(outside?.sender_user)?.id) === bot.id;
}

/** `/command@another_bot` at the beginning: the message addresses another bot. */
function isForAnother(message: Fields, { username }: BotIdentity): boolean {
  const source = text(message.text) ?? "";
  const first = username === undefined ? undefined : readEntities(source, message.entities)[0];
  if (first === undefined || first.type !== "bot_command" || first.start !== 0) return false;
  const named = /@(\w+)$/.exec(source.slice(0, first.end))?.[1];
  return named !== undefined && named.toLowerCase() !== username?.toLowerCase();
}

/** Text and files of all parts, in order. A part without content adds nothing. */
function contentOf(messages: readonly Fields[]): ReturnType<typeof parseContent> {
  const [only] = messages;
  if (only !== undefined && messages.length === 1) return parseContent(only);
  const contents = joinTexts(messages).map(parseContent);
  const found = contents.filter((content): content is Content => !("silent" in content));
  const [first] = contents;
  if (found.length === 0 && first !== undefined) return first;
  const plain = found.map((content) => content.plain ?? content.text).join("\n");
  const text = found.map((content) => content.text).join("\n");
  return { text, ...(plain !== text && { plain }), media: found.flatMap((content) => content.media) };
}

/**
 * A group that becomes a supergroup gets a new id. The platform announces it in both chats, each with the other's id.
 */
function parseMigration(
  message: Fields,
  chat: InboundChat,
  who: Pick<ChannelInbound, "sender" | "messageId">,
): ChannelInbound | undefined {
  const from = id(message.migrate_from_chat_id);
  const to = id(message.migrate_to_chat_id);
  if (from === undefined && to === undefined) return undefined;
  return {
    kind: "migration",
    chat: { ...chat, id: from ?? chat.id },
    migratedTo: to ?? chat.id,
    ...who,
    text: "",
    media: [],
    mention: false,
    timestamp: (number(message.date) ?? 0) * 1_000,
  };
}

export function parseMessages(versions: readonly Version[], bot: BotIdentity): ChannelInbound | Silent | undefined {
  const messages = versions.map(({ message }) => message);
  const [first] = messages;
  if (first === undefined) return undefined;
  const kind = versions.every((version) => version.kind === "edit") ? "edit" : "message";
  const chatFields = record(first.chat);
  const chat = parseChat(chatFields);
  const sender = parseSender(senderOf(first));
  const messageId = id(first.message_id);
  if (chat === undefined || sender === undefined || messageId === undefined) return undefined;
  if (id(record(first.from)?.id) === bot.id) return { silent: "own_message" };
  // Each movement of a live location is an edit, and needs no reply.
  if (kind === "edit" && record(first.location) !== undefined) return { silent: "live_location_moved" };
  const moved = parseMigration(first, chat, { sender, messageId });
  if (moved !== undefined) return moved;
  const content = contentOf(messages);
  if ("silent" in content && !(content.silent === "content_unknown" && chat.kind === "direct" && kind === "message"))
    return content;
  const mentionedByName = messages.some((message) => isNamed(message, bot));
  const mention = mentionedByName || messages.some((message) => answersBot(message, bot));
  if (chat.kind !== "direct" && !mention && isForAnother(first, bot)) {
    return {
      silent: "command_for_another_bot",
      detail: "The command names another bot.",
      hint: "Name this bot after the command, or no bot.",
    };
  }
  const thread = threadOf(first, chatFields);
  const replyTo = firstOf(messages, parseReply);
  const forward = firstOf(messages, parseForward);
  const seconds = (kind === "edit" ? number(first.edit_date) : undefined) ?? number(first.date) ?? 0;
  return {
    kind,
    chat: { ...chat, ...(thread && { thread }) },
    sender,
    ...("silent" in content ? unreadable : contentFields(content)),
    mention,
    ...(mentionedByName && { mentionedByName }),
    timestamp: seconds * 1_000,
    messageId,
    ...(messages.length > 1 && { messageIds: messages.flatMap((message) => id(message.message_id) ?? []) }),
    ...(replyTo && { replyTo }),
    ...(forward && { forward }),
  };
}

/** A person in a direct chat gets a sentence for a message of a kind that this version does not know. */
const unreadable = { text: "", media: [], unreadable: true } as const;

const contentFields = ({ text: markdown, plain, media }: Content) => ({ text: markdown, plain, media });

function firstOf<T>(messages: readonly Fields[], read: (message: Fields) => T | undefined): T | undefined {
  for (const message of messages) {
    const found = read(message);
    if (found !== undefined) return found;
  }
  return undefined;
}
