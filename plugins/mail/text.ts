/** Cleans texts of a mail for the agent: no markup, no invisible characters, no split characters. */

import type { HiddenText } from "./html/visible-html.ts";

/** Characters that are invisible, or that change the order in which others are shown. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu;
const maxLine = 1_000;

/** Cleans a subject, a name or an address. */
export function oneLine(text: string): string {
  return cut(text.replace(/\s+/gu, " ").replace(invisible, "").trim(), maxLine).text;
}

/** Cleans a body, keeping its lines. */
export function manyLines(text: string): string {
  return (
    text
      .replace(/\r\n?/g, "\n")
      .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (character) =>
        character === "\n" || character === "\t" ? character : "",
      )
      .split("\n")
      // A pattern for the end of a line would scan a long run of spaces again from each of them.
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  );
}

/** At most this many bytes of UTF-8, without splitting a character. */
export function cut(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return { text, cut: false };
  let end = maxBytes;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.subarray(0, end).toString("utf8"), cut: true };
}

/** The time of a conversion grows with the number of tags; this many take well below 100 ms. */
const maxTags = 3_000;
const maxHtml = 100_000;

export interface HtmlText {
  readonly text: string;
  readonly cut: boolean;
  /** Absent if the HTML hides no text. */
  readonly hidden?: HiddenText;
}

/** The text that a reader of the HTML sees. The libraries are loaded with the first HTML mail. */
export async function htmlToText(html: string): Promise<HtmlText> {
  const [{ convert }, { visibleHtml }] = await Promise.all([import("html-to-text"), import("./html/visible-html.ts")]);
  const end = Math.min(maxHtml, endOfTags(html));
  const visible = visibleHtml(html.slice(0, end));
  const text = convert(visible.html, {
    wordwrap: false,
    limits: { maxDepth: 100, maxChildNodes: 2_000 },
    selectors: [
      { selector: "img", format: "skip" },
      { selector: "a", options: { hideLinkHrefIfSameAsText: true } },
    ],
  });
  return { text, cut: end < html.length, hidden: visible.hidden };
}

/** The position of the first tag beyond the limit. */
function endOfTags(html: string): number {
  let at = html.indexOf("<");
  for (let tags = 0; at >= 0 && tags < maxTags; tags += 1) at = html.indexOf("<", at + 1);
  return at < 0 ? html.length : at;
}
