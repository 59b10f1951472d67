/**
 * Reads what an agent needs of a mail's parts, whatever the protocol: its texts with words in them, forwarded messages,
 * calendar entries.
 */

import type { HiddenText } from "../html/visible-html.ts";
import type { ForwardedMessage, Mail } from "../source.ts";
import { cut, htmlToText, manyLines, oneLine } from "../text.ts";
import { type CalendarEntry, parseCalendar } from "./calendar.ts";
import type { Alternatives, Outline, Text } from "./outline.ts";

/** HTML needs more space than its text. */
const maxHtmlBytes = 100_000;
const maxCalendarBytes = 200_000;

/**
 * At most `most` bytes of a part, decoded. `undefined` if the server does not send it. Rejects with `TooLongPart` if it
 * would send too much.
 */
export type ReadPart<Part> = (
  part: Part,
  most: number,
) => Promise<{ readonly value: string; readonly cut: boolean } | undefined>;

/** A part is not read for its beginning alone. */
export class TooLongPart extends Error {
  override readonly name = "TooLongPart";
}

type Contents = Pick<Mail, "text" | "forwarded" | "calendar" | "seal" | "attachments" | "bodyError">;
type MailText = NonNullable<Mail["text"]>;

export async function readContents<Part>(
  { texts, enclosed, calendars, seal, attachments }: Outline<Part>,
  { maxBytes, read }: { readonly maxBytes: number; readonly read: ReadPart<Part> },
): Promise<Contents> {
  const tooLong = new Set<Part>();

  async function textOf({
    kind,
    part,
  }: Text<Part>): Promise<(MailText & { readonly kind: Text<Part>["kind"] }) | undefined> {
    const found = await readOr(part, kind === "html" ? maxHtmlBytes : maxBytes * 2);
    if (found === undefined) return undefined;
    const shown = kind === "html" ? await htmlToText(found.value) : { text: found.value, cut: false };
    const { hidden } = "hidden" in shown ? shown : {};
    return { kind, value: manyLines(shown.text), cut: shown.cut || found.cut, hidden };
  }

  async function readOr(part: Part, most: number): ReturnType<ReadPart<Part>> {
    try {
      return await read(part, most);
    } catch (error) {
      if (!(error instanceof TooLongPart)) throw error;
      tooLong.add(part);
      return undefined;
    }
  }

  /** The first alternative with words. One that says little gives way to an alternative that says more. */
  async function alternativeOf(candidates: Alternatives<Part>): Promise<MailText | undefined> {
    let stub: MailText | undefined;
    for (const candidate of candidates) {
      const found = await textOf(candidate);
      if (found === undefined || !hasWords(found.value)) continue;
      const { kind, ...text } = found;
      if (stub !== undefined && !saysMore(text.value, stub.value)) continue;
      if (kind === "plain" && stub === undefined && candidates.length > 1 && isShort(text.value)) stub = text;
      else return text;
    }
    return stub;
  }

  /** All texts of a message, such as those before and behind an attachment. */
  async function wordsOf(texts: readonly Alternatives<Part>[]): Promise<MailText | undefined> {
    const found: MailText[] = [];
    for (const candidates of texts) {
      const one = await alternativeOf(candidates);
      if (one !== undefined) found.push(one);
    }
    const [first, ...others] = found;
    if (first === undefined || others.length === 0) return first;
    return {
      value: found.map(({ value }) => value).join("\n\n"),
      cut: found.some((one) => one.cut),
      hidden: allHidden(found.flatMap(({ hidden }) => hidden ?? [])),
    };
  }

  let text = await wordsOf(texts);
  const forwarded: ForwardedMessage[] = [];
  let room = maxBytes;
  for (const { texts: candidates, ...header } of enclosed) {
    const found = await wordsOf(candidates);
    // A mail that only encloses a message has that message's text.
    if (text === undefined && found !== undefined) {
      text = found;
      continue;
    }
    const body = cut(found?.value ?? "", Math.max(room, 0));
    room -= Buffer.byteLength(body.text);
    const [from, subject, date] = [header.from, header.subject, header.date].map(oneLine);
    forwarded.push({
      from: from ?? "",
      subject: subject ?? "",
      date: date ?? "",
      body: body.text,
      bodyTruncated: body.cut || found?.cut === true,
    });
  }
  const calendar: CalendarEntry[] = [];
  for (const part of calendars) {
    const file = await readOr(part, maxCalendarBytes);
    if (file !== undefined) calendar.push(...parseCalendar(file.value));
  }
  return {
    ...{ attachments, forwarded, calendar },
    ...(seal !== undefined && { seal }),
    ...(text !== undefined && { text }),
    ...(tooLong.size > 0 && text === undefined && { bodyError: "the text of the mail is too long" }),
  };
}

const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** What all texts hide together. */
function allHidden(hidden: readonly HiddenText[]): HiddenText | undefined {
  if (hidden.length === 0) return undefined;
  return {
    characters: hidden.reduce((sum, { characters }) => sum + characters, 0),
    isPreview: hidden.every(({ isPreview }) => isPreview),
  };
}

const longestStub = 500;
/** A text that only refers to the HTML has few words besides an address. */
const mostStubWords = 30;
/** An alternative with so many times the letters has what a short text leaves out. */
const muchMore = 3;

const refersToHtml = /\b(?:html|browser|web ?version|online version|webansicht|navigateur|navegador)\b/i;

/** The words of a text, without addresses and placeholders of pictures. */
const wordsIn = (text: string): string =>
  text
    .replace(/https?:\/\/\S+|\[(?:image|cid):[^\]\n]*\]/gi, " ")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whether a plain text may only say that the mail is to be read as HTML or on the web. */
const isShort = (text: string): boolean =>
  text.length <= longestStub && wordsIn(text).split(" ").length <= mostStubWords;

/** Whether the HTML has what its short alternative in plain text leaves out. */
function saysMore(html: string, plain: string): boolean {
  const [long, short] = [wordsIn(html), wordsIn(plain)];
  if (short === "") return true;
  return refersToHtml.test(short)
    ? !(refersToHtml.test(long) && isShort(html))
    : long.length >= muchMore * short.length;
}
