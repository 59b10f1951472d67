/** The Markdown parser, with our rules. */
import { createRequire } from "node:module";
import type { MarkdownIt, MarkdownItOptions } from "markdown-it";
import { addInlineRules } from "./inline-rules.ts";

function createParser(): MarkdownIt {
  // Loaded with the first text, not with the plugin: a gateway without this channel need not wait for it.
  const Markdown = createRequire(import.meta.url)("markdown-it") as new (preset: string, options: MarkdownItOptions) => MarkdownIt;
  const made = new Markdown("default", { html: false, linkify: false, typographer: false });
  // Every destination is parsed; which of them may be a link is decided later, so that the others keep their text.
  made.validateLink = () => true;
  addInlineRules(made);
  return made;
}

function once<T>(make: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}

/** Made once; it has no state between texts. */
export const markdownParser = once(createParser);
