/** Renders a message for the agent: one line with facts that the gateway has verified, then the sender's text. */
import type { Inbound, InboundMedia, InboundSender } from "../../contract/index.ts";

/** Every sequence that a renderer or model might treat as a line break. */
const lineBreaks = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/;

/** Opening brackets and characters that look like one. */
const brackets = "\\[［【〔〖〘〚⟦⟨⟪⁅❲❴﹝﹇⦋⦍⦏⦗⎡⌈⌊「『";

/**
 * Matches an opening bracket at the beginning of a line, even behind invisible characters, quote marks or emphasis.
 * Task boxes (`[x]`) are exempt. Applied line by line, because the `m` flag would take quadratic time on a text of
 * blank lines.
 */
const lineBracket = new RegExp(`^([\\s\\p{Cf}\\p{Zs}\\p{Cc}>*_~\`"'#|+-]*)(?!\\[[ xX]\\] )([${brackets}])`, "u");

/**
 * A link of the sender, such as the headline of a forwarded post. No line of the gateway continues with an address. A
 * label that names facts as the gateway does is escaped nevertheless.
 */
const link = /^\[([^[\]\n]{1,300})\]\((?:https?:\/\/|tg:\/\/|mailto:)[^\s()<>]{1,2000}\)/;
const likeFacts = /\bid:|\bUTC\b|^\W*(?:reply|forwarded|attached|media|used|tool|end|context|instructions|system)\b/iu;

function isLink(line: string): boolean {
  const label = link.exec(line)?.[1];
  return label !== undefined && !likeFacts.test(label.normalize("NFKC").replace(/\p{Cf}/gu, ""));
}

/** Fast path: most texts contain no bracket and no unusual line break. */
const harmlessAlready = new RegExp(`^[^\\r\\v\\f\\u0085\\u2028\\u2029${brackets}]*$`);

/**
 * Escapes lines in a sender's text that could be mistaken for lines of the gateway, by a backslash before the bracket.
 */
export function defuseLines(text: string): string {
  if (harmlessAlready.test(text)) return text;
  return text
    .split(lineBreaks)
    .map((line) =>
      line.replace(lineBracket, (whole, before: string, bracket: string) =>
        isLink(line.slice(before.length)) ? whole : `${before}\\${bracket}`,
      ),
    )
    .join("\n");
}

/** Fast path: most names contain only these harmless characters. */
const plainAlready = /^[A-Za-z0-9_.,@-]*(?: [A-Za-z0-9_.,@-]+)*$/;

/** Returns a name or title on one line, without brackets and without an id, cut to `max` characters. */
export function plainName(name: string, max = 80): string {
  if (plainAlready.test(name) && name.length <= max) return name;
  const line = name
    .normalize("NFKC")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/[\p{Ps}\p{Pe}<>"`]/gu, "")
    // Only the gateway states ids: a name such as `Ada id:7` must not seem to state another one.
    .replace(/(?<![\p{L}\p{N}])(id)\s*:/giu, "$1 ")
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...line];
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : line;
}

const longestId = 128;

const percentEncoded = (text: string): string =>
  [...Buffer.from(text, "utf8")].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

/**
 * Returns a platform's id in the form for an envelope or a sentence. Unusual characters are percent-encoded: if they
 * were removed, `ada[` would be shown as the id of the sender `ada`.
 */
export function plainId(id: string): string {
  if (/^[\w@.:+!#$&*=~^|{}/-]{0,128}$/.test(id)) return id;
  const encoded = id.replace(/%(?=[\dA-F]{2})|[^\w@.:+!#$%&*=~^|{}/-]+/gi, percentEncoded);
  return encoded.length > longestId ? `${encoded.slice(0, longestId - 1)}…` : encoded;
}

export function renderSender(sender: InboundSender): string {
  const name = plainName(sender.name ?? "");
  const username = plainId(sender.username ?? "").replace(/^@/, "");
  return [
    name,
    username === "" ? "" : `(@${username})`,
    sender.isBot === true ? "(bot)" : "",
    `id:${plainId(sender.id)}`,
  ]
    .filter((piece) => piece !== "")
    .join(" ");
}

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

/**
 * Formats a time as `Fri 2026-11-20 14:09 UTC`. Minutes are precise enough, and the weekday saves a model from
 * computing it.
 */
export function renderTime(at: number): string {
  const date = new Date(at);
  const iso = date.toISOString();
  return `${weekdays[date.getUTCDay()]} ${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Behind the time of a message whose words were transcribed. */
export const spokenMark = ", spoken, transcribed by a machine";

function renderSize(bytes: number): string {
  return bytes < 1_024
    ? `${bytes} B`
    : bytes < 1_048_576
      ? `${Math.round(bytes / 1_024)} kB`
      : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/**
 * Describes a file of the message, or says why it is unavailable. `where` distinguishes files of a quoted message;
 * empty for the message's own files.
 */
function renderMediaNote(media: InboundMedia, where = ""): string {
  if (media.unavailable !== undefined) return `[media unavailable${where}: ${plainName(media.unavailable, 240)}]`;
  const facts = [
    media.kind,
    media.fileName === undefined ? "" : `"${plainName(media.fileName, 120)}"`,
    media.mimeType === undefined ? "" : plainId(media.mimeType),
    media.size === undefined ? "" : renderSize(media.size),
    media.sticker?.setName === undefined ? "" : `of the set "${plainName(media.sticker.setName)}"`,
    media.path === undefined ? "" : `at ${media.path}`,
    media.description === undefined ? "" : `showing "${plainName(media.description, 500)}"`,
    media.transcript === undefined ? "" : `saying "${plainName(media.transcript, 4_000)}"`,
  ];
  return `[attached${where} ${facts.filter((fact) => fact !== "").join(" ")}]`;
}

/** Quotes another user's text by prefixing each line with `> `, so that the end of the quote is unambiguous. */
function quoted(text: string, max = 2_000): string {
  const characters = [...text];
  const cut = characters.length > max ? `${characters.slice(0, max).join("")}…` : text;
  return defuseLines(cut)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Renders `reply to <name> message:<id>`, omitting what is unknown. */
export function renderAnswered({ sender, messageId }: NonNullable<Inbound["replyTo"]>): string {
  const who = sender === undefined ? "" : ` to ${plainName(sender)}`;
  const which = messageId === undefined ? "" : ` message:${plainId(messageId)}`;
  return `reply${who}${which}`;
}

function renderReply(replyTo: NonNullable<Inbound["replyTo"]>): string {
  const passage = replyTo.quote ?? replyTo.text;
  const head = `[${renderAnswered(replyTo)}${replyTo.quote === undefined ? "" : ", quoting"}]`;
  const files = (replyTo.media ?? []).map((media) => renderMediaNote(media, " there"));
  return [head, ...(passage === undefined || passage === "" ? [] : [quoted(passage)]), ...files].join("\n");
}

/**
 * Renders `[<channel> <chat or sender> <time>] text` and the blocks that belong to it. A text that did not come from a
 * channel is returned unchanged.
 */
export function renderEnvelope(inbound: Inbound): string {
  if (inbound.authority !== "channel") return inbound.text;
  const { chat, sender } = inbound;
  const channel = plainId(inbound.channel);
  const time = renderTime(inbound.timestamp);
  const thread =
    chat.thread === undefined ? "" : ` ${chat.kind === "direct" ? "thread" : "topic"}:${plainId(chat.thread)}`;
  const text = defuseLines(inbound.text);
  const who = renderSender(sender);
  const edited = inbound.kind === "edit" ? " edited" : "";
  const place = [plainName(chat.title ?? ""), chat.kind, `id:${plainId(chat.id)}`]
    .filter((piece) => piece !== "")
    .join(" ");
  const spoken = inbound.spoken === true ? spokenMark : "";
  const when = `${time}${edited}${spoken}`;
  const isDirect = chat.kind === "direct";
  const head = isDirect
    ? `[${channel} ${who}${thread} ${when}] ${text}`
    : `[${channel} ${place}${thread} ${when}] ${who}: ${text}`;
  const blocks = [head];
  if (inbound.forward !== undefined) {
    const sent = inbound.forward.timestamp === undefined ? "" : ` ${renderTime(inbound.forward.timestamp)}`;
    blocks.push(`[forwarded from ${plainName(inbound.forward.from)}${sent}]`);
  }
  if (inbound.replyTo !== undefined) blocks.push(renderReply(inbound.replyTo));
  for (const media of inbound.media) blocks.push(renderMediaNote(media));
  return blocks.join("\n");
}
