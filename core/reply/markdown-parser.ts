/** The Markdown of replies: CommonMark with tables and strikethrough. */
import { createRequire } from "node:module";
import type { MarkdownIt, MarkdownItOptions, StateBlock } from "markdown-it";

/**
 * The parser fills short rows with empty cells. A table that has more cells than a text can have marks ends, and its
 * rest is text.
 */
const mostCells = 10_000;

function isFull(state: StateBlock, line: number): boolean {
  const { parentType, line: title, src, bMarks, eMarks } = state;
  return (
    parentType === "table" &&
    (line - title) * src.slice(bMarks[title + 1], eMarks[title + 1]).split("|").length > mostCells
  );
}

/**
 * The shared parser, which has no state. It is loaded with the first text that is parsed, because most processes parse
 * none.
 */
export const markdownParser: () => MarkdownIt = (() => {
  let made: MarkdownIt | undefined;
  return () => {
    if (made !== undefined) return made;
    const Markdown = createRequire(import.meta.url)("markdown-it") as new (
      preset: string,
      options: MarkdownItOptions,
    ) => MarkdownIt;
    made = new Markdown("default", { html: false, linkify: false, typographer: false });
    // What a platform takes as an address is for its channel to judge.
    made.validateLink = () => true;
    // The parser asks the rules that may end a quotation also whether they end a table.
    made.block.ruler.before("paragraph", "table_end", (state, line, _end, silent) => silent && isFull(state, line), {
      alt: ["blockquote"],
    });
    return made;
  };
})();
