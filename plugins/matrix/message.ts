/** What people write, as the gateway reads it. Pure: what an event lacks is looked up before it is stored. */
import { type InboundMedia, type Json, type Parsed, readMention } from "service-gateway/sdk/channel";
import { type Fields, list, record, string } from "./homeserver.ts";

/** An event of a room, with what its meaning depends on. */
export type Raw = {
  readonly bot: { readonly id: string; readonly names: readonly string[] };
  readonly room: { readonly id: string; readonly direct: boolean; readonly title?: string };
  readonly event: { readonly [key: string]: Json };
  /** Name of the sender in the room. */
  readonly name?: string;
  /** The event that this one is about: the message that it replies to, or that it edits. */
  readonly about?: { readonly [key: string]: Json };
};

/** The id of the event that an event is about, where its meaning depends on that one. */
export function aboutId(content: Fields): string | undefined {
  const relation = record(content["m.relates_to"]);
  if (relation.rel_type === "m.replace") return string(relation.event_id);
  if (relation.rel_type === "m.thread" && relation.is_falling_back === true) return undefined;
  return string(record(relation["m.in_reply_to"]).event_id);
}

const threadOf = (content: Fields): string | undefined => {
  const { rel_type: type, event_id: root } = record(content["m.relates_to"]);
  return type === "m.thread" ? string(root) : undefined;
};

/** Older clients quote the message that is replied to at the beginning of the text. */
function withoutQuote(body: string, isReply: boolean): string {
  if (!isReply || !/^> (?:\* )?<@[^>\n]+>/.test(body)) return body;
  const lines = body.split("\n");
  const end = lines.findIndex((line) => !line.startsWith(">"));
  return end < 0 ? "" : lines.slice(lines[end] === "" ? end + 1 : end).join("\n");
}

const kinds: Readonly<Record<string, InboundMedia["kind"]>> = {
  "m.image": "image",
  "m.video": "video",
  "m.audio": "audio",
  "m.file": "document",
};

function mediaOf(type: unknown, content: Fields): InboundMedia | undefined {
  const { msgtype, url, info, filename, body } = content;
  const kind =
    type === "m.sticker" ? "sticker" : Object.hasOwn(kinds, String(msgtype)) ? kinds[String(msgtype)] : undefined;
  if (kind === undefined || typeof url !== "string" || !url.startsWith("mxc://")) return undefined;
  const { mimetype, size } = record(info);
  const isVoice = kind === "audio" && content["org.matrix.msc3245.voice"] !== undefined;
  const name = string(filename) ?? string(body);
  return {
    kind: isVoice ? "voice" : kind,
    ref: url,
    ...(typeof mimetype === "string" && { mimeType: mimetype }),
    ...(typeof size === "number" && Number.isSafeInteger(size) && size >= 0 && { size }),
    ...(kind === "sticker"
      ? { sticker: { animated: false } }
      : name !== undefined && name !== "" && { fileName: name.slice(0, 255) }),
  };
}

interface Content {
  readonly text: string;
  readonly media: readonly InboundMedia[];
}

function contentOf(type: unknown, content: Fields, name: string): Content {
  const { msgtype, body, filename, geo_uri: place } = content;
  const isReply = record(content["m.relates_to"])["m.in_reply_to"] !== undefined;
  const text = withoutQuote(string(body) ?? "", isReply).trim();
  const file = mediaOf(type, content);
  if (file !== undefined) {
    const placeholder = `<media:${file.kind === "voice" ? "audio" : file.kind}>`;
    // The body is a caption only beside a file name of its own.
    const caption = typeof filename === "string" && filename !== body ? text : "";
    return { text: caption || placeholder, media: [file] };
  }
  if (msgtype === "m.emote") return { text: text && `* ${name} ${text}`, media: [] };
  if (msgtype === "m.location" && typeof place === "string") return { text: `${text}\n${place}`.trim(), media: [] };
  return { text, media: [] };
}

/** Whether a message addresses the bot, and its text without the name at the beginning. */
function mentionIn(content: Fields, text: string, { id, names }: Raw["bot"], repliesToBot: boolean) {
  const { "m.mentions": mentions, formatted_body: html } = content;
  const named = readMention(text, names);
  const at = text.indexOf(id);
  // The id of another user may begin like the bot's.
  const hasId = at >= 0 && !/^(?:[\w.-]|:\d)/.test(text.slice(at + id.length));
  const lead = hasId && at === 0 ? (/^[:,]?\s*/.exec(text.slice(id.length))?.[0].length ?? 0) + id.length : 0;
  const rest = lead > 0 ? text.slice(lead) : named.text;
  const links = [id, id.replaceAll("@", "%40").replaceAll(":", "%3A")].map((one) => `matrix.to/#/${one}"`);
  const isLinked = typeof html === "string" && links.some((link) => html.includes(link));
  // Clients list the writer of a message that is replied to among the mentions.
  const isListed = list(record(mentions).user_ids).includes(id) && !repliesToBot;
  // For a client that lists mentions, a name in the middle is a word like any other.
  const isNamed = rest !== text || hasId || isLinked || isListed || (named.mention && mentions === undefined);
  return { text: rest, mention: isNamed || repliesToBot, mentionedByName: isNamed };
}

export function parse(value: Json): Parsed {
  const { event: found, room, bot, name: shown, about: other } = record(value);
  const event = record(found);
  const { type, sender, content: given, event_id: id, origin_server_ts: at } = event;
  const { id: roomId, title } = record(room);
  const botId = record(bot).id;
  if (![type, sender, id, roomId, botId].every((one) => typeof one === "string" && one !== "")) return undefined;
  const me = { id: String(botId), names: list(record(bot).names).filter((one) => typeof one === "string") };
  const person = String(sender);
  if (person === me.id) return { silent: "own_message" };
  const content = record(given);
  const about = record(other);
  const thread =
    threadOf(content) ?? (about.event_id === aboutId(content) ? threadOf(record(about.content)) : undefined);
  const name = string(shown) ?? person;
  const isDirect = record(room).direct === true;
  const inbound = {
    chat: {
      ...(isDirect ? { id: person, kind: "direct" as const } : { id: String(roomId), kind: "group" as const }),
      ...(!isDirect && typeof title === "string" && { title }),
      ...(thread !== undefined && { thread }),
    },
    sender: {
      ...{ id: person, name, username: person.slice(1).split(":", 1)[0] ?? "" },
      ...(content.msgtype === "m.notice" && { isBot: true }),
    },
    ...(typeof at === "number" && at > 0 && at < 4_102_444_800_000 && { timestamp: Math.floor(at) }),
  };
  const place = typeof title === "string" ? `${title}, ${roomId}` : String(roomId);
  if (type === "m.room.encrypted") return { silent: "room_encrypted", detail: `${person} wrote in ${place}.` };
  if (type === "m.room.member")
    return {
      silent: "invitation_refused",
      detail: `${person} invited the bot to ${place}, which the access rules do not admit.`,
    };
  if (type === "m.room.redaction") {
    const messageId = string(content.redacts) ?? string(event.redacts);
    return messageId === undefined ? undefined : { ...inbound, kind: "delete", text: "", messageId };
  }
  if (type === "m.reaction") {
    const { event_id: messageId, key } = record(content["m.relates_to"]);
    if (typeof messageId !== "string" || typeof key !== "string") return undefined;
    const text = `Reaction added: ${key.slice(0, 100)} by ${name} (${person}) on message ${messageId}`;
    return { ...inbound, kind: "reaction", text, messageId };
  }
  if (type === "m.room.tombstone") {
    const migratedTo = string(content.replacement_room);
    return migratedTo === undefined || isDirect
      ? { silent: "service_message" }
      : { ...inbound, kind: "migration", text: "", migratedTo };
  }
  if (type !== "m.room.message" && type !== "m.sticker") return undefined;
  const relation = record(content["m.relates_to"]);
  const isEdit = relation.rel_type === "m.replace";
  // An edit of another person's message has no effect in any client.
  if (isEdit && typeof about.sender === "string" && about.sender !== person) return { silent: "message_unknown" };
  const body = isEdit ? record(content["m.new_content"]) : content;
  const { text, media } = contentOf(type, body, name);
  // Its writer has deleted it meanwhile, or it is of a kind that has no text.
  if (text === "") return { silent: "service_message" };
  const replied = isEdit || about.event_id !== aboutId(content) ? {} : about;
  const quoted = contentOf(replied.type, record(replied.content), string(replied.sender) ?? "");
  return {
    ...inbound,
    ...mentionIn(body, text, me, replied.sender === me.id),
    ...(isDirect && { mention: true }),
    ...(media.length > 0 && { media }),
    kind: isEdit ? "edit" : "message",
    messageId: isEdit ? String(relation.event_id) : String(id),
    ...(!isEdit &&
      aboutId(content) !== undefined && {
        replyTo: {
          messageId: aboutId(content),
          ...(typeof replied.sender === "string" && { sender: replied.sender }),
          ...(quoted.text !== "" && { text: quoted.text }),
          ...(quoted.media.length > 0 && { media: quoted.media }),
        },
      }),
  };
}
