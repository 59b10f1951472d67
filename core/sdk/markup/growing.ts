/**
 * The messages of a growing Markdown text, as a preview needs them at each edit. They are the same as those of the
 * whole text, but finished parts are kept and only the rest is parsed, split and rendered again.
 */
import { markdownParser } from "../../reply/markdown-parser.ts";
import { boundMarkdown } from "./bound-markdown.ts";
import { type ChunkOptions, chunkText, messageRanges } from "./chunk.ts";
import { absurdDepth, cleanText } from "./clean-text.ts";
import type { Dialect } from "./dialect.ts";
import { longestCharacter } from "./graphemes.ts";
import { readMarkdown, writeBlocks, writeRest } from "./markdown.ts";
import { createSlicer, nothingYet, type RichText, slice } from "./rich-text.ts";
import { newWalk } from "./walk.ts";

/** May define a reference, which is a link everywhere in the text; labels contain no brackets. */
const definition = /^[ \t>*+\-\d.)]*\[(?:[^[\]\\]|\\.)*\]:/ms;
/**
 * Text outside the kept messages is read at each edit up to this length and cost; a longer one only when it has
 * doubled.
 */
const easyLength = 20_000;
const easyCost = 3_000;
const lineEnd = /\r\n?|\n/g;

/** Where a line of the text begins. */
function startOfLine(text: string, line: number): number {
  lineEnd.lastIndex = 0;
  for (let passed = 0; passed < line; passed += 1) lineEnd.exec(text);
  return line === 0 ? 0 : lineEnd.lastIndex;
}

/**
 * The tokens of a text, and how many of them precede the last top-level block that certainly is one: it follows a blank
 * line, and its first line is complete. The blocks before it are complete and do not affect it.
 */
function parseBlocks(text: string) {
  const tokens = markdownParser().parse(text, {});
  const lines = text.split("\n");
  const last = tokens.findLastIndex(({ level, nesting, map }) => {
    const [line = 0] = map ?? [];
    return level === 0 && nesting >= 0 && line > 0 && line < lines.length - 1 && lines[line - 1]?.trim() === "";
  });
  return { tokens, settled: Math.max(0, last), line: tokens[last]?.map?.[0] ?? 0 };
}

/**
 * Reads the text each time it has grown. A text that does not begin with the previous one is a new text. While a very
 * long block grows, the messages may be older than the text.
 */
export function createGrowingText<T>(
  options: ChunkOptions & { readonly dialect: Dialect },
  messageOf: (chunk: RichText) => T,
): (markdown: string) => readonly T[] {
  const { dialect } = options;
  /** The Markdown of completed blocks. */
  let source = "";
  /** Its styled text, without the kept messages. */
  let settled = nothingYet;
  let retained: T[] = [];
  let last: readonly T[] = [];
  /** Number of characters at which the text is read again. */
  let readAt = 0;

  function forget(): void {
    source = "";
    settled = nothingYet;
    retained = [];
  }

  /** How many characters the next edit has to read. */
  const leftOf = (markdown: string) => settled.text.length + markdown.length - source.length;

  /** Everything outside the kept messages, of a text that is not read as Markdown any more. */
  function readRest(head: string, rest: string): RichText {
    const walk = newWalk(dialect, settled);
    const behind = head.slice(source.length);
    if (behind !== "") writeBlocks(walk, markdownParser().parse(cleanText(behind), {}));
    const known = source.length - head.length;
    if (known <= 0) writeRest(walk, cleanText(rest), cleanText(head.slice(-1_000)));
    else walk.out.write(cleanText(rest.slice(known)));
    source = head + rest;
    settled = walk.out.soFar();
    return walk.out.finish();
  }

  /** Everything outside the kept messages. */
  function read(markdown: string): RichText {
    const bound = boundMarkdown(markdown);
    if (bound.rest !== "") return readRest(bound.markdown, bound.rest);
    const rest = markdown.slice(source.length);
    const { tokens, settled: count, line } = parseBlocks(cleanText(rest));
    const walk = newWalk(dialect, settled);
    writeBlocks(walk, tokens.slice(0, count));
    source += rest.slice(0, startOfLine(rest, line));
    settled = walk.out.soFar();
    writeBlocks(walk, tokens.slice(count));
    return walk.out.finish();
  }

  /** Keeps the messages that are full and followed by enough text that their ends can no longer change. */
  function keep(messages: readonly T[], ranges: readonly (readonly [number, number])[]): void {
    const sure = settled.text.trimEnd().length - options.limit - longestCharacter;
    const open = ranges.findIndex(([start]) => start >= sure);
    if (open <= 0) return;
    retained.push(...messages.slice(0, open));
    settled = slice(settled, ranges[open]?.[0] ?? 0, settled.text.length);
  }

  function messagesOf(markdown: string): readonly T[] {
    const rest = markdown.slice(source.length);
    if (definition.test(rest) || absurdDepth.test(rest)) {
      forget();
      return chunkText(readMarkdown(markdown, dialect), options).map(messageOf);
    }
    const rich = read(markdown);
    const ranges = messageRanges(rich, options);
    const part = createSlicer(rich);
    const messages = ranges.map((range) => messageOf(part(...range)));
    const all = [...retained, ...messages];
    keep(messages, ranges);
    return all;
  }

  return (markdown) => {
    if (!markdown.startsWith(source)) {
      forget();
      readAt = 0;
    }
    const left = leftOf(markdown);
    if (
      left < readAt &&
      (left > easyLength || boundMarkdown(markdown.slice(source.length), { mostCost: easyCost }).rest !== "")
    )
      return last;
    last = messagesOf(markdown);
    readAt = 2 * leftOf(markdown);
    return last;
  };
}
