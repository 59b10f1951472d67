/**
 * The messages of a Markdown text that grows, as a preview needs them at each edit: the same as those of the whole text, but what
 * no further word can change is kept, and only the rest is parsed, cut and rendered again.
 */
import type { Json } from "service-gateway/sdk";
import type { AccountOptions } from "../options.ts";
import { longestCharacter, messageRanges } from "../text/chunk.ts";
import { absurdDepth, clean, writeBlocks } from "../text/markdown.ts";
import { markdownParser } from "../text/markdown-parser.ts";
import { createSlicer, nothingYet, type RichText, slice } from "../text/rich-text.ts";
import { newWalk } from "../text/walk.ts";
import { chunkMarkdown, messageLimit, textPayload } from "./render.ts";

type Payload = { readonly [key: string]: Json };

/** Might define a reference, which is a link everywhere in the text; no label has a bracket in it. */
const definition = /^[ \t>*+\-\d.)]*\[(?:[^[\]\\]|\\.)*\]:/ms;
/** What is not yet in a kept message is read at each edit up to this length; more only when it is twice as long as the last time. */
const easyLength = 20_000;
const lineEnd = /\r\n?|\n/g;

/** Where a line of the text begins. */
function startOfLine(text: string, line: number): number {
  lineEnd.lastIndex = 0;
  for (let passed = 0; passed < line; passed += 1) lineEnd.exec(text);
  return line === 0 ? 0 : lineEnd.lastIndex;
}

/**
 * The tokens of a text, and how many of them stand before the last block of the top level that is sure to be one: it follows a blank
 * line, and its first line is complete. Blocks before it have ended, and it would be the same without them.
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
 * Reads the text again each time that it has grown; one that does not begin with the last one is another text. While a very long
 * block grows, the messages may be older than the text.
 */
export function createGrowingText(
  settings: Pick<AccountOptions, "textChunkLimit" | "chunkMode" | "linkPreview">,
): (markdown: string) => readonly Payload[] {
  const options = { limit: Math.min(settings.textChunkLimit, messageLimit), mode: settings.chunkMode };
  /** Markdown whose blocks have ended. */
  let source = "";
  /** What it says, without the messages that are kept. */
  let settled = nothingYet;
  let kept: Payload[] = [];
  let last: readonly Payload[] = [];
  /** Characters to read at which they are read again. */
  let readAt = 0;

  function forget(): void {
    source = "";
    settled = nothingYet;
    kept = [];
  }

  /** How many characters are read at the next edit. */
  const leftOf = (markdown: string) => settled.text.length + markdown.length - source.length;

  /** All that is not in a kept message. */
  function read(markdown: string): RichText {
    const rest = markdown.slice(source.length);
    const { tokens, settled: count, line } = parseBlocks(clean(rest));
    const walk = newWalk(settled);
    writeBlocks(walk, tokens.slice(0, count));
    source += rest.slice(0, startOfLine(rest, line));
    settled = walk.out.soFar();
    writeBlocks(walk, tokens.slice(count));
    return walk.out.finish();
  }

  /** Keeps the messages that are full, and followed by so much that their ends are decided. */
  function keep(messages: readonly Payload[], ranges: readonly (readonly [number, number])[]): void {
    const sure = settled.text.trimEnd().length - options.limit - longestCharacter;
    const open = ranges.findIndex(([start]) => start >= sure);
    if (open <= 0) return;
    kept.push(...messages.slice(0, open));
    settled = slice(settled, ranges[open]?.[0] ?? 0, settled.text.length);
  }

  function messagesOf(markdown: string): readonly Payload[] {
    const rest = markdown.slice(source.length);
    if (definition.test(rest) || absurdDepth.test(rest)) {
      forget();
      return chunkMarkdown(markdown, settings).map((chunk) => textPayload(chunk, settings));
    }
    const rich = read(markdown);
    const ranges = messageRanges(rich, options);
    const part = createSlicer(rich);
    const messages = ranges.map((range) => textPayload(part(...range), settings));
    const all = [...kept, ...messages];
    keep(messages, ranges);
    return all;
  }

  return (markdown) => {
    if (!markdown.startsWith(source)) {
      forget();
      readAt = 0;
    }
    const left = leftOf(markdown);
    if (left > easyLength && left < readAt) return last;
    last = messagesOf(markdown);
    readAt = 2 * leftOf(markdown);
    return last;
  };
}
