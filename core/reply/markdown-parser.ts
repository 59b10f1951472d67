/** The Markdown of replies: CommonMark with tables, strikethrough and `||spoilers||`. */
import { createRequire } from "node:module";
import type { MarkdownIt, MarkdownItOptions } from "markdown-it";
import { addInlineRules } from "./inline-rules.ts";
import { addTableEnd } from "./sparse-table.ts";
import { showUnusedDefinitions } from "./unused-definitions.ts";

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
    // What a platform accepts as an address is decided later, so that the text of a refused link is not lost.
    made.validateLink = () => true;
    addInlineRules(made);
    addTableEnd(made);
    showUnusedDefinitions(made);
    return made;
  };
})();
