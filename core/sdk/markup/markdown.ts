/**
 * Converts Markdown to styled text. Total: every input yields a text that can be sent, and no character is lost. The
 * event loop never waits long: a text with very many marks is shown as it was written from some place on.
 */
import type { Token } from "markdown-it";
import { markdownParser } from "../../reply/markdown-parser.ts";
import { boundMarkdown } from "./bound-markdown.ts";
import { absurdDepth, cleanText } from "./clean-text.ts";
import type { Dialect } from "./dialect.ts";
import { writeInline } from "./markdown-inline.ts";
import type { RichText } from "./rich-text.ts";
import { writeTable } from "./table-text.ts";
import { type List, newWalk, startBlock, startVerbatim, type Walk } from "./walk.ts";

const rule = "──────────";
/** Quotes with more lines are shown collapsed. */
const longQuoteLines = 20;

function writeCode(walk: Walk, token: Token): void {
  const written = token.content.replace(/\n$/, "");
  const info = token.info.trim();
  // Without code, words behind the fence are all there is. One word is a language.
  const code = written.trim() === "" && /\s/.test(info) ? info : written;
  if (code.trim() === "") return;
  startVerbatim(walk);
  const language = code === written ? /^[A-Za-z0-9+#_.-]{1,32}/.exec(info)?.[0] : undefined;
  walk.out.open({ kind: "pre", language });
  walk.out.write(code);
  walk.out.close("pre");
}

function isTight(tokens: readonly Token[], open: number): boolean {
  const level = tokens[open]?.level ?? 0;
  for (let at = open + 1; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (token.level === level && token.nesting === -1) return true;
    if (token.type === "paragraph_open" && token.level === level + 2) return token.hidden;
  }
  return true;
}

/** The number of a list item. Numbers remain as written, except in lists that give every item the same number. */
function numberOf(list: List, written: string): string {
  const again = list.next > 0 && written === list.first;
  if (list.next === 0) list.first = written;
  const shown = again ? String(list.next) : written;
  list.next = Number(shown) + 1;
  return shown;
}

/** The bullet of an item. For a task it is a box, which replaces the brackets in the text. */
function bulletOf(list: List, item: Token, tokens: readonly Token[], at: number): string {
  const text = tokens[at + 2]?.type === "inline" ? tokens[at + 2]?.children?.[0] : undefined;
  const box = text?.type === "text" && text.content.startsWith("[") ? /^\[([ xX])\] /.exec(text.content) : null;
  if (box !== null && text !== undefined) {
    text.content = text.content.slice(4);
    return box[1] === " " ? "☐ " : "☑ ";
  }
  return list.ordered ? `${numberOf(list, item.info)}. ` : "• ";
}

function openItem(walk: Walk, tokens: readonly Token[], at: number, token: Token): void {
  const list = walk.lists.at(-1);
  if (list === undefined) return;
  const previous = tokens[at - 1]?.type;
  const first = previous === "bullet_list_open" || previous === "ordered_list_open";
  startBlock(walk, first ? walk.lists.length > 1 && (walk.lists.at(-2)?.tight ?? false) : list.tight);
  const bullet = bulletOf(list, token, tokens, at);
  walk.out.write(bullet);
  walk.indents.push(" ".repeat(Math.max(2, bullet.length)));
  walk.fresh = true;
}

export function writeBlocks(walk: Walk, tokens: readonly Token[]): void {
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    switch (token.type) {
      case "paragraph_open":
        startBlock(walk, token.hidden);
        break;
      case "inline":
        writeInline(walk, token.children ?? []);
        break;
      case "heading_open":
        startBlock(walk, false);
        walk.out.open({ kind: "bold" });
        break;
      case "heading_close":
        walk.out.close("bold");
        break;
      case "bullet_list_open":
      case "ordered_list_open":
        walk.lists.push({
          tight: isTight(tokens, at),
          ordered: token.type === "ordered_list_open",
          first: "",
          next: 0,
        });
        break;
      case "bullet_list_close":
      case "ordered_list_close":
        walk.lists.pop();
        break;
      case "list_item_open":
        openItem(walk, tokens, at, token);
        break;
      case "list_item_close":
        walk.indents.pop();
        walk.fresh = false;
        break;
      case "blockquote_open":
        startBlock(walk, false);
        walk.fresh = true;
        walk.quotes += 1;
        if (walk.quotes === 1)
          walk.out.open({ kind: "quote", long: token.map !== null && token.map[1] - token.map[0] > longQuoteLines });
        break;
      case "blockquote_close":
        walk.quotes -= 1;
        if (walk.quotes === 0) walk.out.close("quote");
        walk.fresh = false;
        break;
      case "fence":
      case "code_block":
        writeCode(walk, token);
        break;
      case "hr":
        startBlock(walk, false);
        walk.out.write(rule);
        break;
      case "table_open":
        at = writeTable(walk, tokens, at);
        break;
    }
  }
}

/**
 * Matches a single line without Markdown. Many short replies are like this, and parsing costs more than the rest of a
 * send.
 */
const plainLine = /^\p{L}(?:[\p{L}\p{M}\p{N} ,;!?"']|\.(?= |$))*$/u;

export function readMarkdown(source: string, dialect: Dialect): RichText {
  if (plainLine.test(source)) return { text: source.trimEnd(), spans: [], wholes: [] };
  const text = cleanText(source);
  const { markdown, rest } = boundMarkdown(text);
  if (absurdDepth.test(markdown)) return { text: text.trimEnd(), spans: [], wholes: [] };
  const walk = newWalk(dialect);
  writeBlocks(walk, markdownParser().parse(markdown, {}));
  if (rest !== "") writeRest(walk, rest, markdown);
  return walk.out.finish();
}

/** Writes what is not read as Markdown, behind the text that is. */
export function writeRest(walk: Walk, rest: string, before: string): void {
  if (/\n[ \t]*\n$/.test(before.slice(-1_000))) walk.out.blankLine();
  else if (before.endsWith("\n")) walk.out.freshLine();
  walk.out.write(rest);
}
