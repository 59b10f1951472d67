/** Renders the text of a draft: a reply to one mail, as specified by RFC 5322. */
import type { Mail, Mailbox } from "../source.ts";
import { cut, manyLines, oneLine } from "../text.ts";

/** The parts of a mail that a later reply needs. */
export interface Answered {
  readonly to: Mailbox & { readonly address: string };
  readonly subject: string;
  readonly messageId?: string;
  readonly references: readonly string[];
  /** ISO 8601. */
  readonly date?: string;
  readonly quote: string;
}

/** Other addresses would need a server that supports non-ASCII ones. */
const plainAddress = /^[^\s<>()[\],;:\\"@\p{Cc}]+@[a-z0-9.-]+$/iu;
const plainId = /^<[^<>\s]+>$/;
/** Mailboxes without a reader. */
const unread = /^(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster)\b/i;
const maxReferences = 20;

/**
 * `undefined` if there is no single sender to reply to. `Reply-To` is ignored, because it is free text and may contain
 * any address.
 */
export function answeredOf(
  mail: Mail,
  { text, maxBytes }: { readonly text: string; readonly maxBytes: number },
): Answered | undefined {
  const [sender, another] = mail.from;
  const address = sender?.address;
  if (address === undefined || another !== undefined || !/^[\x21-\x7e]+$/.test(address)) return undefined;
  if (!plainAddress.test(address) || unread.test(address)) return undefined;
  const { messageId, date } = mail;
  const field = mail.headers.find(({ name }) => name === "references")?.value ?? "";
  return {
    to: { address, ...(sender?.name === undefined ? {} : { name: oneLine(sender.name) }) },
    subject: oneLine(mail.subject),
    references: (field.match(/<[^<>\s]+>/g) ?? []).slice(-maxReferences),
    quote: cut(text, maxBytes).text,
    ...(messageId !== undefined && plainId.test(messageId) ? { messageId } : {}),
    date,
  };
}

export interface DraftText {
  readonly reply: string;
  readonly messageId: string;
  /** Address of the mailbox's owner; if absent, the mail program fills it in. */
  readonly from?: string;
  readonly at: Date;
}

/** One recipient, without the copies. */
export function renderDraft({ to, subject, messageId, references, date, quote }: Answered, draft: DraftText): string {
  const { reply, from, at } = draft;
  const thread = [...references.filter((id) => id !== messageId), ...(messageId === undefined ? [] : [messageId])];
  const fields = [
    ...(from === undefined || !plainAddress.test(from) ? [] : [`From: ${from}`]),
    `To: ${to.name === undefined || to.name === "" ? to.address : `${phrase(to.name)} <${to.address}>`}`,
    `Subject: ${unstructured(replySubject(subject))}`,
    `Date: ${at.toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: ${draft.messageId}`,
    ...(messageId === undefined ? [] : [`In-Reply-To: ${messageId}`]),
    ...(thread.length === 0 ? [] : [`References: ${thread.join("\r\n ")}`]),
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
  ];
  const when = date === undefined ? "" : `On ${date.slice(0, 16).replace("T", " at ")} UTC, `;
  const quoted =
    quote === ""
      ? []
      : ["", `${when}${to.name || to.address} wrote:`, ...quote.split("\n").map((line) => `> ${line}`.trimEnd())];
  const body = [manyLines(reply), ...quoted, ""].join("\r\n").replace(/\r?\n/g, "\r\n");
  return `${fields.join("\r\n")}\r\n\r\n${lines(Buffer.from(body, "utf8").toString("base64"))}\r\n`;
}

/** A single `Re:`, whatever prefixes earlier mail programs added. */
function replySubject(subject: string): string {
  return `Re: ${subject.replace(/^(?:(?:re|aw|antw|sv|vs)(?:\[\d+\])?:\s*)+/i, "")}`.trimEnd();
}

function phrase(name: string): string {
  return /^[\x20-\x7e]{1,70}$/.test(name) ? `"${name.replace(/["\\]/g, "\\$&")}"` : encodedWords(name);
}

function unstructured(text: string): string {
  return /^[\x20-\x7e]{1,900}$/.test(text) && !text.includes("=?") ? text : encodedWords(text);
}

/** RFC 2047: pieces of at most 75 bytes, none of which splits a character. */
function encodedWords(text: string): string {
  const words: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const piece = cut(rest, 45).text;
    words.push(`=?utf-8?B?${Buffer.from(piece, "utf8").toString("base64")}?=`);
    rest = rest.slice(piece.length);
  }
  return words.join("\r\n ");
}

const lines = (base64: string): string => base64.match(/.{1,76}/g)?.join("\r\n") ?? "";
