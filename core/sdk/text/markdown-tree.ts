/**
 * The tree of a reply: replies are written in Markdown, and a channel renders the tree in its platform's own markup.
 */
import type { Token } from "markdown-it";
import { markdownParser } from "../../reply/markdown-parser.ts";
import { boundMarkdown } from "../markup/bound-markdown.ts";
import { absurdDepth, cleanText } from "../markup/clean-text.ts";

/**
 * A piece of a line. HTML does not exist here: tags are text. A `break` is a new line within a paragraph. A `spoiler`
 * is written `||hidden||`; show the bars on a platform that cannot hide text.
 *
 * @example
 * parseMarkdown("**Hi**");
 * // [{ type: "paragraph", content: [{ type: "bold", content: [{ type: "text", text: "Hi" }] }] }]
 */
export type MarkdownInline =
  | { readonly type: "text" | "code"; readonly text: string }
  | { readonly type: "break" }
  | { readonly type: "bold" | "italic" | "strike" | "spoiler"; readonly content: readonly MarkdownInline[] }
  | { readonly type: "link"; readonly url: string; readonly content: readonly MarkdownInline[] }
  | { readonly type: "image"; readonly url: string; readonly text: string };

/**
 * A block of a reply. A list item and a quote contain blocks again. `start` of a list is the number of its first item;
 * absent: bullets. A table is a list of rows, the first of which is the head; each row is a list of cells.
 *
 * @example
 * parseMarkdown("- one\n- two");
 * // [{ type: "list", items: [[{ type: "paragraph", ... }], [{ type: "paragraph", ... }]] }]
 */
export type MarkdownBlock =
  | { readonly type: "paragraph"; readonly content: readonly MarkdownInline[] }
  | { readonly type: "heading"; readonly level: number; readonly content: readonly MarkdownInline[] }
  | { readonly type: "code"; readonly text: string; readonly language?: string }
  | { readonly type: "quote"; readonly blocks: readonly MarkdownBlock[] }
  | { readonly type: "list"; readonly start?: number; readonly items: readonly (readonly MarkdownBlock[])[] }
  | { readonly type: "table"; readonly rows: readonly (readonly (readonly MarkdownInline[])[])[] }
  | { readonly type: "rule" };

/**
 * Parses a reply. Total: every text has a tree. Beyond what `boundMarkdown` accepts, the text becomes an unchanged
 * paragraph. What no reader sees is left out: titles of links, and what follows the language of a code block. Control
 * characters and lone surrogates are removed, because platforms reject them; `\n` and tabs stay.
 *
 * @example
 * for (const block of parseMarkdown(reply.text)) if (block.type === "code") upload(block.text, block.language);
 */
export function parseMarkdown(text: string): readonly MarkdownBlock[] {
  const clean = cleanText(text);
  const { markdown, rest } = boundMarkdown(clean);
  if (absurdDepth.test(markdown)) return [{ type: "paragraph", content: linesOf(clean) }];
  const blocks = blocksOf(readTokens(markdownParser().parse(markdown, {})));
  return rest === "" ? blocks : [...blocks, { type: "paragraph", content: linesOf(rest) }];
}

/** The lines of a text that is not parsed. */
function linesOf(text: string): readonly MarkdownInline[] {
  return text
    .split("\n")
    .flatMap((line, index) => [
      ...(index > 0 ? [{ type: "break" } as const] : []),
      { type: "text", text: line } as const,
    ]);
}

/** Hands out tokens one by one. */
interface Reader {
  next(): Token | undefined;
}

function readTokens(tokens: readonly Token[]): Reader {
  let at = 0;
  return { next: () => tokens[at++] };
}

/** The blocks up to the end of the one that contains them. */
function blocksOf(reader: Reader): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  for (let token = reader.next(); token !== undefined && token.nesting !== -1; token = reader.next()) {
    const block = blockOf(token, reader);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

function blockOf(token: Token, reader: Reader): MarkdownBlock | undefined {
  switch (token.type) {
    case "paragraph_open":
      return { type: "paragraph", content: contentOf(reader) };
    case "heading_open":
      return { type: "heading", level: Number(token.tag.slice(1)), content: contentOf(reader) };
    case "fence":
    case "code_block": {
      const text = token.content.replace(/\n$/, "");
      // Without code, words behind the fence are all there is. One word is a language.
      if (text.trim() === "" && /\S\s+\S/.test(token.info)) return { type: "code", text: token.info.trim() };
      const language = /^\S+/.exec(token.info)?.[0];
      return { type: "code", text, ...(language !== undefined && { language }) };
    }
    case "blockquote_open":
      return { type: "quote", blocks: blocksOf(reader) };
    case "bullet_list_open":
      return { type: "list", items: itemsOf(reader) };
    case "ordered_list_open":
      return { type: "list", start: Number(token.attrGet("start") ?? 1), items: itemsOf(reader) };
    case "table_open":
      return { type: "table", rows: rowsOf(reader) };
    case "hr":
      return { type: "rule" };
    default:
      return undefined;
  }
}

/** The line of a paragraph, a heading or a cell, up to its end. */
function contentOf(reader: Reader): readonly MarkdownInline[] {
  let content: readonly MarkdownInline[] = [];
  for (let token = reader.next(); token !== undefined && token.nesting !== -1; token = reader.next())
    content = inlineOf(readTokens(token.children ?? []), 0);
  return content;
}

function itemsOf(reader: Reader): readonly (readonly MarkdownBlock[])[] {
  const items: (readonly MarkdownBlock[])[] = [];
  for (let token = reader.next(); token !== undefined && token.nesting !== -1; token = reader.next())
    items.push(blocksOf(reader));
  return items;
}

function rowsOf(reader: Reader): readonly (readonly (readonly MarkdownInline[])[])[] {
  const rows: (readonly MarkdownInline[])[][] = [];
  for (let token = reader.next(); token !== undefined && token.type !== "table_close"; token = reader.next()) {
    if (token.type === "tr_open") rows.push([]);
    else if (token.type === "th_open" || token.type === "td_open") rows.at(-1)?.push(contentOf(reader));
  }
  return rows;
}

const styles: Readonly<Record<string, "bold" | "italic" | "strike" | "spoiler">> = {
  strong_open: "bold",
  em_open: "italic",
  s_open: "strike",
  spoiler_open: "spoiler",
};

/** Styles within each other beyond this depth are left out, because a reader of the tree descends into it. */
const deepest = 50;

function inlineOf(reader: Reader, depth: number): readonly MarkdownInline[] {
  const pieces: MarkdownInline[] = [];
  /** Of the styles that were left out, those that are open. */
  let open = 0;
  for (let token = reader.next(); token !== undefined && (token.nesting !== -1 || open > 0); token = reader.next()) {
    const style = styles[token.type];
    if (token.nesting === -1) open -= 1;
    else if (depth >= deepest && token.nesting === 1) open += 1;
    else if (style !== undefined) pieces.push({ type: style, content: inlineOf(reader, depth + 1) });
    else if (token.type === "softbreak" || token.type === "hardbreak") pieces.push({ type: "break" });
    else if (token.type === "code_inline") pieces.push({ type: "code", text: token.content });
    else if (token.type === "link_open")
      pieces.push({ type: "link", url: urlOf(token, "href"), content: inlineOf(reader, depth + 1) });
    else if (token.type === "image") pieces.push({ type: "image", url: urlOf(token, "src"), text: altOf(token) });
    else if (token.content !== "") pieces.push({ type: "text", text: token.content });
  }
  return pieces;
}

/** The words of a label, without its markup. */
const altOf = ({ children }: Token): string =>
  (children ?? [])
    .map((child) => (child.type === "softbreak" || child.type === "hardbreak" ? " " : child.content))
    .join("");

/** As it was written: the parser escapes what HTML would need escaped. */
const urlOf = (token: Token, name: string) => markdownParser().normalizeLinkText(String(token.attrGet(name) ?? ""));
