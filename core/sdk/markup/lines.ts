/**
 * Divides a styled text into its lines and blocks of code, for markups that are written line by line. Neighbouring
 * lines without styles are one block, because a text may have a hundred thousand of them.
 */
import { createSlicer, nothingYet, type RichText, type Span } from "./rich-text.ts";

export interface Block {
  readonly text: string;
  /** The styles within the block, without quotes. They nest, begin and end at visible characters, outer ones first. */
  readonly spans: readonly Span[];
  readonly isQuote: boolean;
  /** A block of code, which may have several lines. Otherwise the block is one line, or several without styles. */
  readonly code: { readonly language: string | undefined } | undefined;
}

export function blocksOf(rich: RichText): readonly Block[] {
  const { text, spans } = rich;
  const part = createSlicer(rich);
  const quotes = spans.filter(({ kind }) => kind === "quote");
  const isQuoted = (at: number) => quotes.some(({ start, end }) => at >= start && at < end);
  const plainEnd = plainLines(rich);
  const blocks: Block[] = [];
  const addLines = (start: number, end: number) => {
    for (let at = start; at <= end; ) {
      const plain = plainEnd(at, end);
      const next = text.indexOf("\n", at);
      const stop = plain ?? (next < 0 || next > end ? end : next);
      const lines = plain === undefined ? part(at, stop) : { ...nothingYet, text: text.slice(at, stop) };
      blocks.push({ text: lines.text, spans: trimmedSpans(lines), isQuote: isQuoted(at), code: undefined });
      at = stop + 1;
    }
  };
  let done = 0;
  for (const span of spans) {
    if (span.kind !== "pre" || span.start < done) continue;
    // Code begins at a line of its own, and its last line break is not part of it.
    if (span.start > done) addLines(done, text[span.start - 1] === "\n" ? span.start - 1 : span.start);
    const code = { language: span.language };
    blocks.push({ text: text.slice(span.start, span.end), spans: [], isQuote: isQuoted(span.start), code });
    done = text[span.end] === "\n" ? span.end + 1 : span.end;
  }
  if (done < text.length) addLines(done, text.length);
  return blocks;
}

/**
 * Creates a function that returns the end of the lines without styles that begin at a position, all of them in a quote
 * or all outside; `undefined` if the first line has styles. The positions must ascend.
 */
function plainLines({ text, spans }: RichText): (at: number, end: number) => number | undefined {
  const styles = spans.filter(({ kind }) => kind !== "quote");
  const quoteEdges = spans
    .flatMap((span) => (span.kind === "quote" ? [span.start, span.end] : []))
    .sort((a, b) => a - b);
  let [nextStyle, nextEdge, styledUntil] = [0, 0, 0];
  return (at, end) => {
    for (let span = styles[nextStyle]; span !== undefined && span.start < at; span = styles[++nextStyle])
      styledUntil = Math.max(styledUntil, span.end);
    while ((quoteEdges[nextEdge] ?? end) <= at && nextEdge < quoteEdges.length) nextEdge += 1;
    if (styledUntil > at) return undefined;
    const change = Math.min(styles[nextStyle]?.start ?? end, quoteEdges[nextEdge] ?? end);
    if (change >= end) return end;
    const lineBreak = change > at ? text.lastIndexOf("\n", change - 1) : -1;
    return lineBreak < at ? undefined : lineBreak;
  };
}

/** Marks do not work beside a space inside. Styles that touch and are the same are one. */
function trimmedSpans({ text, spans }: RichText): readonly Span[] {
  const found: Span[] = [];
  for (const span of spans) {
    const words = text.slice(span.start, span.end);
    const start = span.start + words.length - words.trimStart().length;
    const end = start + words.trim().length;
    if (span.kind === "quote" || end <= start) continue;
    const before = found.findLast(({ kind }) => kind === span.kind);
    if (before !== undefined && before.end === start && span.kind !== "link" && !isBetween(found, before, start))
      found[found.indexOf(before)] = { ...before, end };
    else found.push({ ...span, start, end });
  }
  return found;
}

/** Whether another style begins or ends inside of `before`'s container at this place, so that the two cannot be one. */
function isBetween(found: readonly Span[], before: Span, at: number): boolean {
  return found.some((span) => span !== before && span.end === at && span.start <= before.start);
}

/** What a line consists of: text, and where styles begin and end. */
export type LineEvent =
  | { readonly type: "open" | "close"; readonly span: Span }
  | { readonly type: "text"; readonly text: string; readonly at: number; readonly inside: readonly Span[] };

/** The events of a line in order. The spans nest. */
export function eventsOf(text: string, spans: readonly Span[]): readonly LineEvent[] {
  const events: LineEvent[] = [];
  const open: Span[] = [];
  let done = 0;
  const addText = (end: number) => {
    if (end > done) events.push({ type: "text", text: text.slice(done, end), at: done, inside: [...open] });
    done = Math.max(done, end);
  };
  const closeUntil = (at: number) => {
    for (let span = open.at(-1); span !== undefined && span.end <= at; span = open.at(-1)) {
      addText(span.end);
      open.pop();
      events.push({ type: "close", span });
    }
  };
  for (const span of spans) {
    closeUntil(span.start);
    addText(span.start);
    open.push(span);
    events.push({ type: "open", span });
  }
  closeUntil(text.length);
  addText(text.length);
  return events;
}

/** The first character that is not ASCII; those before are cheaper to judge. */
const firstWide = "\u0080";

export function isWord(char: string | undefined): boolean {
  if (char === undefined) return false;
  return char < firstWide ? /[0-9A-Za-z]/.test(char) : /[\p{L}\p{M}\p{N}]/u.test(char);
}
export const isSpace = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

/** How many styles begin, and how many end, at each place. */
export function edgesOf(spans: readonly Span[]): {
  readonly starts: ReadonlyMap<number, number>;
  readonly ends: ReadonlyMap<number, number>;
} {
  const [starts, ends] = [new Map<number, number>(), new Map<number, number>()];
  for (const { start, end } of spans) {
    starts.set(start, (starts.get(start) ?? 0) + 1);
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return { starts, ends };
}

/** The character before a position, and the one at it; `undefined` outside of the text. */
export function charBefore(text: string, at: number): string | undefined {
  if (at <= 0) return undefined;
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(Math.max(0, at - 2), at) : text[at - 1];
}
export function charAt(text: string, at: number): string | undefined {
  const point = text.codePointAt(at);
  return point === undefined ? undefined : String.fromCodePoint(point);
}

/** The length of the longest run of backticks, which a fence has to exceed. */
export const backticksIn = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
