/** The HTML of Matrix: https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes */
import type { Dialect } from "./dialect.ts";
import { joiner } from "./dialect.ts";
import { codeBlockTags, escapeHtml, linkTags, writeHtml } from "./html.ts";
import { plainWithAddresses } from "./plain.ts";
import type { RichText, Span } from "./rich-text.ts";

const tags: Readonly<Record<Exclude<Span["kind"], "pre" | "link">, readonly [string, string]>> = {
  bold: ["<strong>", "</strong>"],
  italic: ["<em>", "</em>"],
  underline: ["<u>", "</u>"],
  strike: ["<del>", "</del>"],
  spoiler: ["<span data-mx-spoiler>", "</span>"],
  code: ["<code>", "</code>"],
  quote: ["<blockquote>", "</blockquote>"],
};

function tagsOf(span: Span): readonly [string, string] {
  if (span.kind === "pre") {
    const [open, close] = codeBlockTags(span.language);
    return span.language === undefined ? ["<pre><code>", "</code></pre>"] : [open, close];
  }
  return span.kind === "link" ? linkTags(span.url) : tags[span.kind];
}

/** A client shows one space for several, and none at the beginning of a line. */
function escapeWords(
  text: string,
  { styles, isLineStart }: { readonly styles: readonly Span[]; readonly isLineStart: boolean },
): string {
  const words = escapeHtml(text);
  if (styles.some(({ kind }) => kind === "pre")) return words;
  const hard = (spaces: string) => "\u00a0".repeat(spaces === "\t" ? 4 : spaces.length);
  return (isLineStart ? words.replace(/^ +/, hard) : words)
    .replace(/(?<=\n) +| {2,}|\t/g, hard)
    .replaceAll("\n", "<br>");
}

/** Clients without intentional mentions look for this word, which notifies everyone in the room. */
const quiet = (text: string): string => text.replace(/@(?=room)/gi, `@${joiner}`);

const write = (rich: RichText) => quiet(writeHtml(rich, tagsOf, escapeWords));
const plain = (rich: RichText) => quiet(plainWithAddresses(rich));

export const matrix: Dialect = {
  isLink: (url) => url.length <= 1_000 && /^(?:https?:\/\/[^\s/]|mailto:[^\s])/i.test(url),
  write,
  plain,
  // Both are in the event, which may have 65,536 bytes.
  size: (rich, markup) =>
    Buffer.byteLength(JSON.stringify(markup)) + Buffer.byteLength(JSON.stringify(plain(rich))) - 4,
};
