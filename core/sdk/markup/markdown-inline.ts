/** Renders the content of a paragraph: styles, links, images and file names. */
import type { Token } from "markdown-it";
import { markdownParser } from "../../reply/markdown-parser.ts";
import type { Dialect } from "./dialect.ts";
import type { Style } from "./rich-text.ts";
import { indentOf, newWalk, type Walk } from "./walk.ts";

/** File extensions that are also top-level domains. Some platforms would turn such file names into links. */
const ending = String.raw`\.(?:md|py|sh|rs|pl|pm|cc|so|ps|tf|mk|am|at|be|zip|mov|st|bz|pub|app|dev)(?![\p{L}\p{N}_/@:-]|\.[\p{L}\p{N}])`;
const fileEnding = new RegExp(ending, "u");
/** Matches a file name. Names inside a longer address do not begin at a word boundary and do not match. */
const fileName = new RegExp(String.raw`(?<![\p{L}\p{N}_@:/.~\\-])(?:[\w.~-]+\/)*[\w.-]*\w${ending}`, "gu");

const opening: ReadonlyMap<string, Style> = new Map([
  ["strong_open", { kind: "bold" }],
  ["em_open", { kind: "italic" }],
  ["s_open", { kind: "strike" }],
  ["spoiler_open", { kind: "spoiler" }],
]);
const closing: ReadonlyMap<string, Style["kind"]> = new Map([
  ["strong_close", "bold"],
  ["em_close", "italic"],
  ["s_close", "strike"],
  ["spoiler_close", "spoiler"],
]);

function writeText(walk: Walk, text: string): void {
  if (walk.links > 0 || walk.dialect.linksNames !== true || !fileEnding.test(text)) {
    walk.out.write(text);
    return;
  }
  let done = 0;
  for (const match of text.matchAll(fileName)) {
    walk.out.write(text.slice(done, match.index));
    walk.out.open({ kind: "code" });
    walk.out.write(match[0]);
    walk.out.close("code");
    done = match.index + match[0].length;
  }
  walk.out.write(text.slice(done));
}

/** A destination that cannot be a link is written in words after its label. */
function destinationText(href: string): string {
  return href === "" ? "" : ` (${markdownParser().normalizeLinkText(href)})`;
}

function writeImage(walk: Walk, token: Token): void {
  const source = String(token.attrGet("src") ?? "");
  const alt = plainText(token.children ?? [], walk.dialect) || token.content.trim() || source;
  const linked = walk.links === 0 && walk.dialect.isLink(source);
  if (linked) walk.out.open({ kind: "link", url: source });
  walk.out.write(alt);
  if (linked) walk.out.close("link");
  else if (walk.links === 0 && alt !== source) walk.out.write(destinationText(source));
}

interface OpenLink {
  readonly href: string;
  readonly start: number;
  readonly allowed: boolean;
  /** The label is the address itself. */
  readonly isBare: boolean;
}

function openLink(walk: Walk, token: Token, [label, end]: readonly Token[]): OpenLink {
  const href = String(token.attrGet("href") ?? "");
  const allowed = walk.dialect.isLink(href);
  const start = walk.out.length();
  walk.links += 1;
  if (allowed) walk.out.open({ kind: "link", url: href });
  const isBare = end?.type === "link_close" && label?.content === markdownParser().normalizeLinkText(href);
  return { href, start, allowed, isBare: isBare || token.info === "auto" };
}

function closeLink(walk: Walk, { href, start, allowed, isBare }: OpenLink): void {
  if (walk.out.seen() <= start) walk.out.write(markdownParser().normalizeLinkText(href));
  else if (!allowed && !isBare) walk.out.write(destinationText(href));
  if (allowed) walk.out.close("link");
  walk.links -= 1;
}

export function writeInline(walk: Walk, tokens: readonly Token[]): void {
  const links: OpenLink[] = [];
  for (const [index, token] of tokens.entries()) {
    switch (token.type) {
      case "text":
        writeText(walk, token.content);
        break;
      case "softbreak":
      case "hardbreak":
        walk.out.write(`\n${indentOf(walk)}`);
        break;
      case "code_inline":
        walk.out.open({ kind: "code" });
        walk.out.write(token.content);
        walk.out.close("code");
        break;
      case "link_open":
        links.push(openLink(walk, token, tokens.slice(index + 1, index + 3)));
        break;
      case "link_close": {
        const link = links.pop();
        if (link !== undefined) closeLink(walk, link);
        break;
      }
      case "image":
        writeImage(walk, token);
        break;
      default: {
        const opened = opening.get(token.type);
        const closed = closing.get(token.type);
        if (opened !== undefined) walk.out.open(opened);
        else if (closed !== undefined) walk.out.close(closed);
        else writeText(walk, token.content);
      }
    }
  }
}

/** Renders inline tokens without styles, for table cells and the text of images. Destinations remain readable. */
export function plainText(tokens: readonly Token[], dialect: Dialect): string {
  const [only] = tokens;
  if (only === undefined) return "";
  if (tokens.length === 1 && (only.type === "text" || only.type === "code_inline")) return only.content.trim();
  const walk = newWalk(dialect);
  writeInline(walk, tokens);
  const { text, spans } = walk.out.finish();
  let result = "";
  let done = 0;
  for (const span of spans) {
    if (span.kind !== "link" || span.url === text.slice(span.start, span.end).trim()) continue;
    result += `${text.slice(done, span.end)} (${span.url})`;
    done = span.end;
  }
  return (result + text.slice(done)).replace(/\s*\n\s*/g, " ").trim();
}
