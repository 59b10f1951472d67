/** What an event of Slack is as a message. Pure. */
import type { Json } from "service-gateway/sdk";
import { type ChannelInbound, emojiFromName, type InboundMedia, type Parsed } from "service-gateway/sdk/channel";
import { channelPattern, type Fields, idPattern, isTimestamp, list, record, text } from "../fields.ts";
import { type People, readText } from "./text.ts";

/** The bot, as Slack knows it. */
export interface Me {
  readonly user: string;
  readonly bot?: string;
}

/**
 * What is stored of an event: what Slack sent, without what is not read, and what it does not say: who the bot is, the
 * names of people, and the thread that a mention begins.
 */
export interface Stored {
  readonly is: "event" | "press" | "command";
  readonly me: Me;
  readonly payload: Fields;
  readonly people?: People;
  readonly title?: string;
  /** The message begins a thread of its own, which its answer is in. */
  readonly begins?: true;
  /** The thread is one that a mention of the bot began. */
  readonly follows?: true;
}

/** Messages of people and bots. All other subtypes are announcements. */
const spoken: ReadonlySet<unknown> = new Set([
  undefined,
  "file_share",
  "thread_broadcast",
  "me_message",
  "bot_message",
]);

const user = new RegExp(`^${idPattern}$`);
const group = new RegExp(`^${channelPattern}$`);

export function parseStored(raw: Json, { slashCommand }: { readonly slashCommand: string }): Parsed {
  const fields = record(raw);
  const payload = record(fields?.payload);
  const own = record(fields?.me);
  const me = text(own?.user);
  if (fields === undefined || payload === undefined || me === undefined || !user.test(me)) return undefined;
  const bot = text(own?.bot);
  const stored = { ...fields, payload, people: peopleOf(fields.people) } as unknown as Stored;
  const at: Read = { stored, me: { user: me, ...(bot !== undefined && { bot }) }, people: stored.people ?? {} };
  if (fields.is === "press") return parsePress(payload, at);
  if (fields.is === "command") return parseCommand(payload, at, slashCommand);
  if (fields.is !== "event") return undefined;
  return payload.type === "reaction_added" ? parseReaction(payload, at) : parseEvent(payload, at);
}

interface Read {
  readonly stored: Stored;
  readonly me: Me;
  readonly people: People;
}

function peopleOf(value: unknown): People {
  const found: Record<string, People[string]> = {};
  for (const [id, one] of Object.entries(record(value) ?? {})) {
    const [name, username] = [text(record(one)?.name), text(record(one)?.username)];
    found[id] = {
      ...(name !== undefined && { name }),
      ...(username !== undefined && { username }),
      ...(record(one)?.isBot === true && { isBot: true }),
    };
  }
  return found;
}

/** A direct chat has the id of the person: Slack's own id of it is looked up for a send. */
function chatOf(channel: unknown, person: string, thread: string | undefined, { stored }: Read) {
  const title = text(stored.title);
  const inThread = thread !== undefined && { thread };
  if (typeof channel !== "string") return undefined;
  if (/^D[A-Z0-9]{2,}$/.test(channel)) return { id: person, kind: "direct" as const, ...inThread };
  if (!group.test(channel)) return undefined;
  return { id: channel, kind: "group" as const, ...(title !== undefined && { title }), ...inThread };
}

/** Who wrote a message; bots of other apps may have no user. */
function senderOf(message: Fields, { people }: Read): ChannelInbound["sender"] | undefined {
  const id = text(message.user) ?? text(message.bot_id);
  if (id === undefined || !user.test(id)) return undefined;
  const known = people[id] ?? {};
  const name = known.name ?? text(message.username) ?? text(record(message.bot_profile)?.name);
  const isBot = message.bot_id !== undefined || message.subtype === "bot_message" || known.isBot || id === "USLACKBOT";
  return {
    id,
    ...(name !== undefined && { name }),
    ...(known.username !== undefined && { username: known.username }),
    ...(isBot === true && { isBot }),
  };
}

const isOwn = (message: Fields, { me }: Read) =>
  message.user === me.user || (me.bot !== undefined && message.bot_id === me.bot);

function parseEvent(event: Fields, at: Read): Parsed {
  if (event.type !== "message" && event.type !== "app_mention") return undefined;
  if (event.subtype === "message_changed") return parseChange(event, at);
  if (event.subtype === "message_deleted")
    return parseDeletion(event, record(event.previous_message), event.deleted_ts, at);
  return spoken.has(event.subtype) ? parseMessage(event, event.channel, at) : { silent: "service_message" };
}

function parseChange(event: Fields, at: Read): Parsed {
  const message = record(event.message);
  if (message === undefined) return undefined;
  // A message with answers stays as a headstone when its writer deletes it.
  if (message.subtype === "tombstone") return parseDeletion(event, record(event.previous_message), message.ts, at);
  if (isOwn(message, at)) return { silent: "own_message" };
  if (!spoken.has(message.subtype)) return { silent: "service_message" };
  if (event.unchanged === true) return { silent: "edit_changes_nothing" };
  const parsed = parseMessage(message, event.channel, at);
  return parsed !== undefined && parsed !== null && "chat" in parsed ? { ...parsed, kind: "edit" } : parsed;
}

/** Slack does not say who deleted. People can delete only what they wrote, admins what others did. */
function parseDeletion(event: Fields, message: Fields | undefined, ts: unknown, at: Read): Parsed {
  if (message === undefined || !isTimestamp(ts)) return { silent: "service_message" };
  if (isOwn(message, at)) return { silent: "own_message" };
  if (!spoken.has(message.subtype)) return { silent: "service_message" };
  const parsed = parseMessage({ ...message, ts, text: "", files: [] }, event.channel, at);
  if (parsed === undefined || parsed === null || "silent" in parsed) return parsed;
  return { ...parsed, kind: "delete", text: "", mention: false };
}

function parseMessage(message: Fields, channel: unknown, at: Read): Parsed {
  const { me, people, stored } = at;
  const sender = senderOf(message, at);
  const { ts } = message;
  if (sender === undefined || !isTimestamp(ts)) return undefined;
  if (isOwn(message, at)) return { silent: "own_message" };
  const chat = chatOf(channel, sender.id, threadOf(message) ?? (stored.begins === true ? ts : undefined), at);
  if (chat === undefined) return undefined;
  const words = [text(message.text) ?? "", ...list(message.attachments).flatMap(quoted)].join("\n").trim();
  const read = readText(words, { me: me.user, people });
  const media = list(message.files).flatMap(mediaOf);
  const isDirect = chat.kind === "direct";
  return {
    chat,
    sender,
    text: read.text || media.map(placeholderOf).join(" "),
    ...(read.plain !== read.text && { plain: read.plain }),
    media,
    mention: isDirect || read.namesBot || message.parent_user_id === me.user || stored.follows === true,
    ...(read.namesBot && { mentionedByName: true }),
    timestamp: Math.floor(Number(ts) * 1_000),
    messageId: ts,
  };
}

/** The first message of a thread has its own id as that of the thread, once it has answers. */
function threadOf({ thread_ts, ts }: Fields): string | undefined {
  return isTimestamp(thread_ts) && thread_ts !== ts ? thread_ts : undefined;
}

/** A message that was shared, and what another app wrote into a card. */
function quoted(attachment: unknown): string[] {
  const { is_share, is_msg_unfurl, author_name, fallback, text: words, from_url, title } = record(attachment) ?? {};
  // The preview of a link: its writer did not write it.
  if (from_url !== undefined && is_share !== true && is_msg_unfurl !== true) return [];
  const shared = text(words) ?? text(fallback) ?? text(title);
  if (shared === undefined) return [];
  const from = text(author_name);
  return [`${from === undefined ? "" : `${from}:\n`}${shared}`.replace(/^/gm, "&gt; ")];
}

const placeholderOf = ({ kind }: InboundMedia) => `<media:${kind === "voice" ? "audio" : kind}>`;

function mediaOf(value: unknown): InboundMedia[] {
  const file = record(value);
  const ref = text(file?.id);
  if (file === undefined || ref === undefined || !/^F[A-Z0-9]{2,}$/.test(ref) || file.mode === "tombstone") return [];
  const [mimeType, fileName] = [text(file.mimetype), text(file.name)];
  const size = typeof file.size === "number" && file.size >= 0 ? file.size : undefined;
  const kind = (["image", "video", "audio"] as const).find((one) => mimeType?.startsWith(`${one}/`)) ?? "document";
  return [
    {
      kind: file.subtype === "slack_audio" ? "voice" : kind,
      ref,
      ...(mimeType !== undefined && { mimeType }),
      ...(fileName !== undefined && { fileName }),
      ...(size !== undefined && { size }),
    },
  ];
}

function parseReaction(event: Fields, at: Read): Parsed {
  const { channel, ts, type } = record(event.item) ?? {};
  const [reaction, id] = [text(event.reaction), text(event.user)];
  if (reaction === undefined || id === undefined || !user.test(id)) return undefined;
  if (id === at.me.user) return { silent: "own_reaction" };
  if (type !== "message" || !isTimestamp(ts)) return { silent: "not_a_message" };
  const chat = chatOf(channel, id, undefined, at);
  const sender = senderOf({ user: id }, at);
  if (chat === undefined || sender === undefined) return undefined;
  const who = (sender.name ?? id).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  const timestamp = Math.floor(Number(isTimestamp(event.event_ts) ? event.event_ts : 0) * 1_000);
  const words = `Reaction added: ${emojiFromName(reaction) ?? `:${reaction}:`} by ${who} on message ${ts}`;
  return { kind: "reaction", chat, sender, text: words, media: [], mention: false, timestamp, messageId: ts };
}

function parsePress(payload: Fields, at: Read): Parsed {
  const id = text(record(payload.user)?.id);
  const [action] = list(payload.actions).map(record);
  const container = record(payload.container) ?? {};
  const value = text(action?.value) ?? text(record(action?.selected_option)?.value);
  const messageId = container.message_ts;
  if (id === undefined || !user.test(id) || value === undefined || !isTimestamp(messageId)) return undefined;
  const thread = threadOf({ thread_ts: record(payload.message)?.thread_ts ?? container.thread_ts, ts: messageId });
  const chat = chatOf(container.channel_id ?? record(payload.channel)?.id, id, thread, at);
  const sender = senderOf({ user: id }, at);
  if (chat === undefined || sender === undefined) return undefined;
  const interaction = text(payload.response_url);
  return {
    kind: "press",
    ...{ chat, sender, text: `callback_data: ${value}`, media: [], mention: true, timestamp: 0, messageId },
    ...(interaction !== undefined && { interaction }),
  };
}

function parseCommand(payload: Fields, at: Read, slashCommand: string): Parsed {
  const [id, command] = [text(payload.user_id), text(payload.command)];
  if (id === undefined || !user.test(id) || command === undefined || !/^\/\S+$/.test(command)) return undefined;
  const chat = chatOf(payload.channel_id, id, undefined, at);
  const sender = senderOf({ user: id }, at);
  if (chat === undefined || sender === undefined) return undefined;
  const { text: words } = readText(text(payload.text) ?? "", { me: "", people: at.people });
  const interaction = text(payload.response_url);
  return {
    ...{ chat, sender, media: [], mention: true, timestamp: 0 },
    text: command === slashCommand ? words.trim() || "/help" : `${command} ${words}`.trim(),
    ...(interaction !== undefined && { interaction }),
  };
}
