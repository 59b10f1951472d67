/** The Markdown of replies: CommonMark with tables and strikethrough. */
import { createRequire } from "node:module";
import type { MarkdownIt, MarkdownItOptions } from "markdown-it";

/** The shared parser, which has no state. It is loaded with the first text that is parsed, because most processes parse none. */
export const markdownParser: () => MarkdownIt = (() => {
  let made: MarkdownIt | undefined;
  return () => {
    if (made !== undefined) return made;
    const Markdown = createRequire(import.meta.url)("markdown-it") as new (preset: string, options: MarkdownItOptions) => MarkdownIt;
    made = new Markdown("default", { html: false, linkify: false, typographer: false });
    // What a platform takes as an address is for its channel to judge.
    made.validateLink = () => true;
    return made;
  };
})();
