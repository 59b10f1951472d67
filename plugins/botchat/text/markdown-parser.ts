/** Creates the Markdown parser with our rules. */
import { createRequire } from "node:module";
import type { MarkdownIt, MarkdownItOptions } from "markdown-it";
import { addInlineRules } from "./inline-rules.ts";
import { addTableEnd } from "./sparse-table.ts";

function createParser(): MarkdownIt {
  // Loaded with the first text rather than with the plugin, so that gateways without this channel need not wait for it.
  const Markdown = createRequire(import.meta.url)("markdown-it") as new (
    preset: string,
    options: MarkdownItOptions,
  ) => MarkdownIt;
  const made = new Markdown("default", { html: false, linkify: false, typographer: false });
  // Every destination is parsed. Those that cannot become links are identified later, so that their text is kept.
  made.validateLink = () => true;
  addInlineRules(made);
  addTableEnd(made);
  return made;
}

function once<T>(make: () => T): () => T {
  let memo: { readonly value: T } | undefined;
  return () => {
    memo ??= { value: make() };
    return memo.value;
  };
}

/** The shared parser, which has no state. */
export const markdownParser = once(createParser);
