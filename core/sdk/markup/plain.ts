/** Text without markup: quotes get a sign before each line, hidden text stays between bars, addresses follow labels. */
import { type Dialect, isAddress } from "./dialect.ts";
import type { RichText, Span } from "./rich-text.ts";
import { stretches } from "./stretches.ts";

/** Writes what `mark` returns where a style begins or ends, and a sign before each line of a quote. */
function writePlain({ text, spans }: RichText, mark: (span: Span, isEnd: boolean) => string): string {
  if (spans.length === 0) return text;
  let out = "";
  let before: readonly Span[] = [];
  for (const { start, end, styles, shared } of stretches({ text, spans })) {
    for (const span of before.slice(shared).reverse()) out += mark(span, true);
    const isQuote = styles[0]?.kind === "quote";
    // Only a quote that begins needs a sign here; in a quote that continues, line breaks have theirs.
    if (isQuote && shared === 0) out += "> ";
    for (const span of styles.slice(shared)) out += mark(span, false);
    const piece = text.slice(start, end);
    out += isQuote ? piece.replaceAll("\n", "\n> ") : piece;
    before = styles;
  }
  return out;
}

const spoilerBars = (span: Span): string => (span.kind === "spoiler" ? "||" : "");

/** The same with the address behind the label of each link. */
export function plainWithAddresses(rich: RichText): string {
  return writePlain(rich, (span, isEnd) =>
    span.kind === "link" && isEnd && !isAddress(rich.text.slice(span.start, span.end).trim(), span.url)
      ? ` (${span.url})`
      : spoilerBars(span),
  );
}

const write = (rich: RichText) => writePlain(rich, spoilerBars);

export const plain: Dialect = {
  isLink: () => false,
  write,
  plain: write,
  size: (_rich, markup) => markup.length,
};
