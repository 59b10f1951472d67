/**
 * The text of a Markdown tree, put together from the parser's tokens by a walk of its own, without white space: what
 * has to arrive.
 */
import type { Token } from "markdown-it";
import { markdownParser } from "../../../../core/reply/markdown-parser.ts";

/** A table is shown in one of two ways; which one depends on its width alone. */
interface TableText {
  readonly aligned: string;
  readonly blocks: string;
}

/** What a reader sees, without white space. */
export function visible(text: string): string {
  return text.replace(/[\s\p{Cc}]/gu, "");
}

const isLink = (href: string) => /^(https?:\/\/[^\s/]|tg:|mailto:\S)/i.test(href);
const readable = (href: string) => markdownParser().normalizeLinkText(href);
const behind = (href: string) => (href === "" ? "" : `(${readable(href)})`);

function inlineText(tokens: readonly Token[], plain: boolean, linked = false): string {
  let text = "";
  const links: { readonly token: Token; readonly href: string; readonly start: number }[] = [];
  for (const token of tokens) {
    if (token.type === "link_open") {
      links.push({ token, href: String(token.attrGet("href")), start: text.length });
    } else if (token.type === "link_close") {
      const link = links.pop();
      if (link === undefined) throw new Error("a link ends that did not begin");
      if (text.slice(link.start).trim() === "") text += readable(link.href);
      else if (!isLink(link.href)) text += link.token.info === "auto" ? "" : behind(link.href);
      if (plain && isLink(link.href) && text.slice(link.start).trim() !== link.href) text += `(${link.href})`;
    } else if (token.type === "image") {
      const source = String(token.attrGet("src") ?? "");
      const inLink = linked || links.length > 0;
      const alt = inlineText(token.children ?? [], true).trim() || token.content.trim() || source;
      text += alt;
      if (!inLink && alt !== source && (plain || !isLink(source)))
        text += isLink(source) ? `(${source})` : behind(source);
    } else text += token.type.endsWith("break") ? "\n" : token.content;
  }
  return text;
}

function tableText(tokens: readonly Token[]): TableText {
  const rows: Token[][][] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "tr_open") rows.push([]);
    if (token.type === "th_open" || token.type === "td_open") rows.at(-1)?.push(tokens[index + 1]?.children ?? []);
  }
  const plain = rows.map((row) => row.map((cell) => inlineText(cell, true).trim()));
  const [heads = []] = plain;
  const aligned = plain.map((row) => visible(row.join("|")));
  const named = (row: readonly Token[][], at: number) => {
    const head = heads[at] ?? "";
    return `${head}${head === "" || /[:?!.…：？！。]$/.test(head) ? "" : ":"}${inlineText(row[at] ?? [], false)}`;
  };
  const filled = rows.filter((_, at) => at > 0 && plain[at]?.some((cell) => cell !== ""));
  const shown = (at: number, row: readonly Token[][]) => inlineText(row[at] ?? [], true).trim() !== "";
  let blocks = filled.map((row) => row.map((_, at) => (shown(at, row) ? named(row, at) : "")).join(""));
  if (filled.length === 0) blocks = (rows[0] ?? []).map((cell) => inlineText(cell, false));
  else if (heads.length === 1)
    blocks = [inlineText(rows[0]?.[0] ?? [], false), ...filled.map((row) => `•${inlineText(row[0] ?? [], false)}`)];
  // Widths are not looked at here: the line below the head is any line of that many columns.
  return { aligned: aligned.join("\n"), blocks: visible(blocks.join("")) };
}

function bullet(
  tokens: readonly Token[],
  at: number,
  number: string,
): { readonly text: string; readonly boxed: boolean } {
  const first = tokens[at + 2]?.type === "inline" ? tokens[at + 2]?.children?.[0] : undefined;
  const box = first?.type === "text" ? /^\[([ xX])\] /.exec(first.content)?.[1] : undefined;
  if (box === undefined) return { text: number === "" ? "•" : `${number}.`, boxed: false };
  return { text: box === " " ? "☐" : "☑", boxed: true };
}

function pieces(tokens: readonly Token[]): readonly (string | TableText)[] {
  const found: (string | TableText)[] = [];
  const lists: { readonly ordered: boolean; first?: string; next: number }[] = [];
  let boxed = false;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    const list = lists.at(-1);
    if (token.type.endsWith("_list_open")) lists.push({ ordered: token.type.startsWith("ordered"), next: 0 });
    if (token.type.endsWith("_list_close")) lists.pop();
    if (token.type === "list_item_open" && list !== undefined) {
      const number = !list.ordered ? "" : list.first === token.info ? String(list.next) : token.info;
      const made = bullet(tokens, at, number);
      ({ boxed } = made);
      if (!made.boxed) {
        list.first ??= token.info;
        list.next = Number(number) + 1;
      }
      found.push(made.text);
    }
    if (token.type === "inline") {
      const text = inlineText(token.children ?? [], false);
      found.push(visible(boxed ? text.slice(4) : text));
      boxed = false;
    }
    // Words behind a fence are the text of one without code; a single word is a language.
    if (token.type === "fence" || token.type === "code_block")
      found.push(visible(token.content.trim() === "" && /\S\s+\S/.test(token.info) ? token.info : token.content));
    if (token.type === "hr") found.push("──────────");
    if (token.type === "table_open") {
      let end = at;
      while (tokens[end]?.type !== "table_close") end += 1;
      found.push(tableText(tokens.slice(at, end)));
      at = end;
    }
  }
  return found;
}

/**
 * The ways in which a table may stand at the beginning of a text. Its line of dashes has some length; what is below it
 * may begin with dashes as well.
 */
function waysOf({ aligned, blocks }: TableText, text: string): readonly string[] {
  const [head = "", ...rows] = aligned.split("\n");
  const line = text.startsWith(head) ? (/^-[-+]*/.exec(text.slice(head.length))?.[0] ?? "") : "";
  return [...Array.from(line, (_, length) => `${head}${line.slice(0, length + 1)}${rows.join("")}`), blocks];
}

/** Undefined when the text is that of the tree, else where they part. */
export function differenceFromTree(markdown: string, text: string): string | undefined {
  const clean = markdown
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");
  const all = pieces(markdownParser().parse(clean, {}));
  let difference: string | undefined;
  const matches = (index: number, rest: string): boolean => {
    const piece = all[index];
    if (piece === undefined && rest !== "") difference ??= `nothing is said of ${JSON.stringify(rest.slice(0, 80))}`;
    if (piece === undefined) return rest === "";
    const ways = typeof piece === "string" ? [piece] : waysOf(piece, rest);
    if (ways.some((way) => rest.startsWith(way) && matches(index + 1, rest.slice(way.length)))) return true;
    difference ??= `expected ${JSON.stringify(ways.at(-1))} at ${JSON.stringify(rest.slice(0, 80))}`;
    return false;
  };
  return matches(0, visible(text)) ? undefined : difference;
}
