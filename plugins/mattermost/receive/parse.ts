/** Turns stored events into messages. Pure. */
import type { InboundMedia, Json } from "service-gateway/sdk";
import { type ChannelInbound, emojiFromName, type Parsed } from "service-gateway/sdk/channel";
import { type Fields, id, isId, list, number, record, text } from "../fields.ts";
import type { StoredEvent } from "./event.ts";

/** Kinds of posts that people write. All others announce something. */
const written: readonly string[] = ["", "me", "slack_attachment", "custom_voice"];

/** The text names everyone, so a mention of the bot may be no more than that. */
const everyone = /(?<![\w.@-])@(?:all|channel|here)(?![\w-])/i;

export function parseEvent(raw: Json, { replyInThread }: { readonly replyInThread: boolean }): Parsed {
  const event = record(raw);
  const bot = record(event.bot);
  const place = chatOf(event, replyInThread);
  const sender = id(event.user);
  if (place === undefined || sender === "" || !isId(bot.id) || !isId(event.post)) return undefined;
  if (sender === bot.id) return { silent: "own_message" };
  const at = {
    chat: place,
    sender: { id: sender, ...nameOf(event.username), ...(event.isBot === true && { isBot: true }) },
    messageId: event.post,
    timestamp: number(event.at),
  };
  switch (event.type as StoredEvent["type"]) {
    case "message":
    case "edit":
      return parsePost(event, at, text(bot.username));
    case "delete":
      return { ...at, kind: "delete", text: "" };
    case "press":
      return { ...at, kind: "press", mention: true, text: `callback_data: ${text(event.text)}` };
    case "reaction": {
      const { name = sender } = nameOf(event.username);
      const reaction = text(event.emoji);
      const emoji = emojiFromName(reaction) ?? `:${reaction}:`;
      return { ...at, kind: "reaction", text: `Reaction added: ${emoji} by ${name} on message ${event.post}` };
    }
    default:
      return undefined;
  }
}

function parsePost(event: Fields, at: Omit<ChannelInbound, "text">, username: string): Parsed {
  if (!written.includes(text(event.kind))) return { silent: "service_message" };
  if (event.isWebhook === true) return { silent: "webhook_message" };
  const { named, rest } = readName(text(event.text), username);
  const isNamed = named || (event.isMentioned === true && !everyone.test(text(event.text)));
  const root = record(event.root);
  const isOwnThread = isId(root.user) && root.user === id(record(event.bot).id);
  const media = mediaOf(event.files);
  const words = text(event.kind) === "me" ? rest.replace(/^\*(.*)\*$/s, "$1") : rest;
  return {
    ...at,
    ...(event.type === "edit" && { kind: "edit" as const }),
    text: words.trim() === "" ? (placeholders(media) ?? words) : words,
    media,
    mention: at.chat.kind === "direct" || isNamed || isOwnThread,
    ...(isNamed && { mentionedByName: true }),
    ...(isId(root.user) && {
      replyTo: {
        messageId: text(event.thread),
        sender: text(root.username),
        text: text(root.text) || (placeholders(mediaOf(root.files)) ?? ""),
        media: mediaOf(root.files),
      },
    }),
  };
}

function chatOf(
  { channel: given, thread, post, type }: Fields,
  replyInThread: boolean,
): ChannelInbound["chat"] | undefined {
  const channel = record(given);
  const isDirect = channel.type === "direct";
  const chat = id(isDirect ? channel.person : channel.id);
  if (chat === "") return undefined;
  // A press says which thread its message is in; the other events belong to the thread that the message began.
  const own = replyInThread && !isDirect && type !== "press" ? id(post) : "";
  const inThread = id(thread) || own;
  return {
    id: chat,
    kind: isDirect ? "direct" : "group",
    ...(!isDirect && text(channel.title) !== "" && { title: text(channel.title) }),
    ...(inThread !== "" && { thread: inThread }),
  };
}

const nameOf = (username: unknown) => (text(username) === "" ? {} : { name: text(username), username: text(username) });

/** Whether the text mentions the bot, and the text without a mention at its beginning, so that commands are read. */
function readName(words: string, username: string): { readonly named: boolean; readonly rest: string } {
  if (username === "") return { named: false, rest: words };
  const name = `@${username.replace(/[.\\^$*+?()[\]{}|]/g, "\\$&")}`;
  const named = new RegExp(`(?<![\\w.@-])${name}(?![\\w-]|\\.\\w)`, "i").test(words);
  const lead = new RegExp(`^\\s*${name}[:,]?(?:\\s+|$)`, "i").exec(words)?.[0] ?? "";
  return { named, rest: words.slice(lead.length) };
}

function mediaOf(files: unknown): readonly InboundMedia[] {
  return list(files)
    .map(record)
    .filter((file) => isId(file.id))
    .map(({ id: ref, name, type, size }) => ({
      kind: kindOf(text(type)),
      ref: text(ref),
      ...(text(type) !== "" && { mimeType: text(type) }),
      ...(text(name) !== "" && { fileName: text(name) }),
      ...(number(size) > 0 && { size: number(size) }),
    }));
}

function kindOf(mimeType: string): InboundMedia["kind"] {
  const [family = ""] = mimeType.split("/");
  return family === "image" || family === "video" || family === "audio" ? family : "document";
}

function placeholders(media: readonly InboundMedia[]): string | undefined {
  return media.length === 0 ? undefined : media.map(({ kind }) => `<media:${kind}>`).join(" ");
}
