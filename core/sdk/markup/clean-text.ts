/** What is done to a reply before it is parsed. */

/** Nested so deeply that the parser would drop content. Such a text is shown as it was written. */
export const absurdDepth = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){50}/m;

/** Removes invisible characters that platforms reject, and lone surrogates. Line breaks become `\n`. */
export function cleanText(source: string): string {
  return source
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");
}
