/** How a message looks to the agent: one line that the gateway vouches for, then what the sender wrote. */
import type { Inbound, InboundMedia, InboundSender } from "../../contract/index.ts";

/** Everything that some renderer or model takes for a line break. */
const lineBreaks = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/;

/** What opens a bracket, or looks as if it did. */
const brackets = "\\[［【〔〖〘〚⟦⟨⟪⁅❲❴﹝﹇⦋⦍⦏⦗⎡⌈⌊「『";

/**
 * One of them at the beginning of a line; invisible characters, quote marks and emphasis before it do not hide it. Task
 * boxes stay. For one line: with the flag `m` a text of blank lines would cost the square of its length.
 */
const lineBracket = new RegExp(`^([\\s\\p{Cf}\\p{Zs}\\p{Cc}>*_~\`"'#|+-]*)(?!\\[[ xX]\\] )([${brackets}])`, "u");

/** Most texts: no bracket anywhere, and no line break but the plain one. */
const harmlessAlready = new RegExp(`^[^\\r\\v\\f\\u0085\\u2028\\u2029${brackets}]*$`);

/** Text of a sender, with lines that could pass for the gateway's own marked by a backslash. */
export function defuseLines(text: string): string {
  if (harmlessAlready.test(text)) return text;
  return text
    .split(lineBreaks)
    .map((line) => line.replace(lineBracket, "$1\\$2"))
    .join("\n");
}

/** What most names are: nothing in them could be taken for anything else. */
const plainAlready = /^[A-Za-z0-9_.,@-]*(?: [A-Za-z0-9_.,@-]+)*$/;

/** A name or title on one line, without brackets of any kind, cut to `max` characters. */
export function plainName(name: string, max = 80): string {
  if (plainAlready.test(name) && name.length <= max) return name;
  const line = name
    .normalize("NFKC")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/[\p{Ps}\p{Pe}<>"`]/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...line];
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : line;
}

/** An id for the envelope: ids come from platforms, but only the characters of ids are kept. */
export function plainId(id: string): string {
  if (/^[\w@.:+!#$%&*=~/-]{0,128}$/.test(id)) return id;
  return id.replace(/[^\w@.:+!#$%&*=~/-]/g, "").slice(0, 128);
}

export function renderSender(sender: InboundSender): string {
  const name = plainName(sender.name ?? "");
  const username = plainId(sender.username ?? "").replace(/^@/, "");
  return [name, username === "" ? "" : `(@${username})`, sender.isBot === true ? "(bot)" : "", `id:${plainId(sender.id)}`]
    .filter((piece) => piece !== "")
    .join(" ");
}

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

/** `Fri 2026-11-20 14:09 UTC`: minutes are enough, and the weekday saves a model from counting. */
export function renderTime(at: number): string {
  const date = new Date(at);
  const iso = date.toISOString();
  return `${weekdays[date.getUTCDay()]} ${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function renderSize(bytes: number): string {
  return bytes < 1_024 ? `${bytes} B` : bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/**
 * One line for a file that came with the message, or did not. `where`: empty, or what distinguishes it from the files of the message
 * itself.
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
  ];
  return `[attached${where} ${facts.filter((fact) => fact !== "").join(" ")}]`;
}

/** Another user's text, each line with `> ` before it, so that it ends where the quoting ends. */
function quoted(text: string, max = 2_000): string {
  const characters = [...text];
  const cut = characters.length > max ? `${characters.slice(0, max).join("")}…` : text;
  return defuseLines(cut)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** `reply to <name> message:<id>`, as far as both are known. */
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

/** `[<channel> <chat or sender> <time>] text` and the blocks that belong to it. What no person wrote comes as it is. */
export function renderEnvelope(inbound: Inbound): string {
  if (inbound.authority !== "channel") return inbound.text;
  const { chat, sender } = inbound;
  const channel = plainId(inbound.channel);
  const time = renderTime(inbound.timestamp);
  const thread = chat.thread === undefined ? "" : ` ${chat.kind === "direct" ? "thread" : "topic"}:${plainId(chat.thread)}`;
  const text = defuseLines(inbound.text);
  const who = renderSender(sender);
  const edited = inbound.kind === "edit" ? " edited" : "";
  const head =
    chat.kind === "direct"
      ? `[${channel} ${who}${thread} ${time}${edited}] ${text}`
      : `[${channel} ${[plainName(chat.title ?? ""), chat.kind, `id:${plainId(chat.id)}`].filter((piece) => piece !== "").join(" ")}${thread} ${time}${edited}] ${who}: ${text}`;
  const blocks = [head];
  if (inbound.forward !== undefined) {
    const when = inbound.forward.timestamp === undefined ? "" : ` ${renderTime(inbound.forward.timestamp)}`;
    blocks.push(`[forwarded from ${plainName(inbound.forward.from)}${when}]`);
  }
  if (inbound.replyTo !== undefined) blocks.push(renderReply(inbound.replyTo));
  for (const media of inbound.media) blocks.push(renderMediaNote(media));
  return blocks.join("\n");
}
