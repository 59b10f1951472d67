/**
 * Reads what an agent needs of a mail's parts, whatever the protocol: the first text with words in it, forwarded
 * messages, calendar entries.
 */

import type { ForwardedMessage, Mail } from "../source.ts";
import { cut, htmlToText, manyLines, oneLine } from "../text.ts";
import { type CalendarEntry, parseCalendar } from "./calendar.ts";
import type { Outline, Text } from "./outline.ts";

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

  /** The first text with words. One that only says that it has none gives way to its alternative. */
  async function wordsOf(candidates: readonly Text<Part>[]): Promise<MailText | undefined> {
    let stub: MailText | undefined;
    for (const candidate of candidates) {
      const found = await textOf(candidate);
      if (found === undefined || !hasWords(found.value)) continue;
      const { kind, ...text } = found;
      if (stub !== undefined && text.value.length < stub.value.length) continue;
      if (kind === "plain" && stub === undefined && candidates.length > 1 && isStub(text.value)) stub = text;
      else return text;
    }
    return stub;
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

const longestStub = 500;
/** A text that only refers to the HTML has few words besides an address. */
const mostStubWords = 30;

/** Whether a plain text only says that the mail is to be read as HTML or on the web. */
function isStub(text: string): boolean {
  if (text.length > longestStub) return false;
  const words = text
    .replace(/https?:\/\/\S+/gi, " ")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  return (
    words === "" ||
    (/\b(?:html|browser|web ?version|online version|webansicht|navigateur|navegador)\b/i.test(words) &&
      words.split(" ").length <= mostStubWords)
  );
}
