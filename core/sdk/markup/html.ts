/** Renders styled text as HTML, in the tags of a platform. The output is always well-formed, whatever the spans are. */
import type { RichText, Span } from "./rich-text.ts";
import { stretches } from "./stretches.ts";

/** A pattern for each sign: one for all needs a call for each sign, which costs ten times as much. */
export const escapeHtml = (text: string): string =>
  /[&<>]/.test(text) ? text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") : text;

const escapeAttribute = (text: string): string => escapeHtml(text).replace(/"/g, "&quot;");

/** The tags of a style: what opens and what closes it. */
type TagsOf = (span: Span) => readonly [string, string];

export function codeBlockTags(language: string | undefined): readonly [string, string] {
  return language === undefined
    ? ["<pre>", "</pre>"]
    : [`<pre><code class="language-${escapeAttribute(language)}">`, "</code></pre>"];
}

export const linkTags = (url: string): readonly [string, string] => [`<a href="${escapeAttribute(url)}">`, "</a>"];

/** Writes the text in tags. `escapeText` is for the text inside the given styles. */
export function writeHtml(
  { text, spans }: RichText,
  tagsOf: TagsOf,
  escapeText: (text: string, about: { readonly styles: readonly Span[]; readonly isLineStart: boolean }) => string = (
    words,
  ) => escapeHtml(words),
): string {
  if (spans.length === 0) return escapeText(text, { styles: [], isLineStart: true });
  let html = "";
  let before: readonly Span[] = [];
  for (const { start, end, styles, shared } of stretches({ text, spans })) {
    for (let at = before.length - 1; at >= shared; at -= 1) html += tagsOf(before[at] as Span)[1];
    for (let at = shared; at < styles.length; at += 1) html += tagsOf(styles[at] as Span)[0];
    html += escapeText(text.slice(start, end), { styles, isLineStart: start === 0 || text[start - 1] === "\n" });
    before = styles;
  }
  return html;
}
