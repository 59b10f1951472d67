/** A reply for platforms without markup. */
import { type MarkdownBlock, type MarkdownInline, parseMarkdown } from "./markdown-tree.ts";

/**
 * A reply as plain text, for a platform without markup: styles go, words stay. Links become `label (url)`, items begin
 * with `- ` or their number, lines of quotes with `> `, cells are separated by ` | `; code stays as it is. Total, and
 * blank where nothing in the reply is visible.
 *
 * @example
 * plainText("See **[the docs](https://example.org)**."); // "See the docs (https://example.org)."
 */
export function plainText(markdown: string): string {
  return blocksText(parseMarkdown(markdown), "\n\n");
}

function blocksText(blocks: readonly MarkdownBlock[], between: string): string {
  return blocks.map(blockText).join(between);
}

function blockText(block: MarkdownBlock): string {
  switch (block.type) {
    case "paragraph":
    case "heading":
      return inlineText(block.content);
    case "code":
      return block.text;
    case "quote":
      return lead(blocksText(block.blocks, "\n\n"), "> ", "> ");
    case "list":
      return block.items
        .map((item, index) => itemText(item, block.start === undefined ? "- " : `${block.start + index}. `))
        .join("\n");
    case "table":
      return block.rows.map((cells) => cells.map(inlineText).join(" | ")).join("\n");
    case "rule":
      return "---";
  }
}

function itemText(blocks: readonly MarkdownBlock[], bullet: string): string {
  return lead(blocksText(blocks, "\n"), bullet, " ".repeat(bullet.length));
}

/** The lines of a text, the first one and the others with a beginning of their own. */
function lead(text: string, first: string, others: string): string {
  return text
    .split("\n")
    .map((line, index) => `${index === 0 ? first : others}${line}`)
    .join("\n");
}

function inlineText(pieces: readonly MarkdownInline[]): string {
  return pieces.map(pieceText).join("");
}

function pieceText(piece: MarkdownInline): string {
  switch (piece.type) {
    case "text":
    case "code":
      return piece.text;
    case "break":
      return "\n";
    case "link":
      return linkText(inlineText(piece.content), piece.url);
    case "spoiler":
      return `||${inlineText(piece.content)}||`;
    case "image":
      return linkText(piece.text, piece.url);
    default:
      return inlineText(piece.content);
  }
}

function linkText(label: string, url: string): string {
  if (label.trim() === "" || label === url || `mailto:${label}` === url) return label.trim() === "" ? url : label;
  return url === "" ? label : `${label} (${url})`;
}
