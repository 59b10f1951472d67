/** The HTML of the Telegram Bot API: https://core.telegram.org/bots/api#html-style */
import type { Dialect } from "./dialect.ts";
import { codeBlockTags, linkTags, writeHtml } from "./html.ts";
import type { RichText, Span } from "./rich-text.ts";

const tags: Readonly<Record<Exclude<Span["kind"], "pre" | "link" | "quote">, readonly [string, string]>> = {
  bold: ["<b>", "</b>"],
  italic: ["<i>", "</i>"],
  underline: ["<u>", "</u>"],
  strike: ["<s>", "</s>"],
  spoiler: ["<tg-spoiler>", "</tg-spoiler>"],
  code: ["<code>", "</code>"],
};

function tagsOf(span: Span): readonly [string, string] {
  if (span.kind === "pre") return codeBlockTags(span.language);
  if (span.kind === "link") return linkTags(span.url);
  if (span.kind === "quote") return [span.long ? "<blockquote expandable>" : "<blockquote>", "</blockquote>"];
  return tags[span.kind];
}

export const telegram: Dialect = {
  isLink: (url) => /^(?:https?:\/\/[^\s/]|tg:|mailto:[^\s])/i.test(url),
  linksNames: true,
  mostStyles: 100,
  write: (rich: RichText) => writeHtml(rich, tagsOf),
};
