/**
 * Cuts a text into messages: at a paragraph, else a line, a sentence, a word; never inside a character.
 * Styles go on in the next message; tables stay in one where one can hold them. A message has no more styles than the platform shows.
 */
import { graphemes } from "./graphemes.ts";
import { styleBeyond } from "./html.ts";
import { createSlicer, isBlank, type RichText, type Whole } from "./rich-text.ts";

export interface ChunkOptions {
  /** UTF-16 units of one message. */
  readonly limit: number;
  /** UTF-16 units of the first message, where it holds less than the others: a caption. */
  readonly firstLimit?: number;
  /** `newline`: a message for each paragraph. */
  readonly mode: "length" | "newline";
}

/** Styles of one message: the platform leaves the rest unformatted, without a word. */
const mostStyles = 100;

/** Longest character that is kept together; a longer one is made to burst such limits. */
export const longestCharacter = 64;

/** The last place at or before `at` that is not inside a character. */
function betweenCharacters(text: string, from: number, at: number): number {
  const base = Math.max(from, at - longestCharacter);
  const window = text.slice(base, at + longestCharacter);
  const segment = graphemes(window).containing(at - base);
  const start = segment === undefined ? at : base + segment.index;
  if (start > from) return start;
  // One character fills the whole message: then only a surrogate pair is held together.
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff && at - 1 > from ? at - 1 : at;
}

/** End of the last match of `pattern` in the window that is not too near to its start. */
function lastBreak(window: string, least: number, pattern: RegExp): number {
  let found = -1;
  for (const match of window.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end > least && end <= window.length) found = end;
  }
  return found;
}

const paragraph = /\n[ \t]*\n+/g;
const line = /\n/g;
const sentence = /[.!?…]["'”’)\]]*\s+|[。！？]/g;
const word = /\s+/g;

/** A text with what does not change from cut to cut. */
interface Source {
  readonly rich: RichText;
  /** The part between two places. */
  readonly part: ReturnType<typeof createSlicer>;
  /** Blocks of code and aligned tables. */
  readonly verbatim: readonly Whole[];
  /** UTF-16 units of every message but the first. */
  readonly limit: number;
}

/** The range that contains the position `at`. The ranges are ordered and do not overlap. */
function inside(ranges: readonly Whole[], at: number): Whole | undefined {
  let from = 0;
  let to = ranges.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ranges[middle]?.start ?? at) < at) from = middle + 1;
    else to = middle;
  }
  const last = ranges[from - 1];
  return last !== undefined && last.end > at ? last : undefined;
}

function cutAfter({ rich, verbatim }: Source, from: number, room: number): number {
  const end = from + room;
  const window = rich.text.slice(from, end);
  // Inside a block of code a blank line is like any other, and there are no sentences.
  const steps: readonly (readonly [RegExp, number])[] = inside(verbatim, end)
    ? [
        [line, 0.3],
        [word, 0.6],
      ]
    : [
        [paragraph, 0.3],
        [line, 0.4],
        [sentence, 0.4],
        [word, 0],
      ];
  for (const [pattern, share] of steps) {
    const found = lastBreak(window, Math.floor(room * share), pattern);
    if (found > 0) return from + found;
  }
  return Math.max(from + 1, betweenCharacters(rich.text, from, end));
}

/** Moves a cut in front of a table that the next message can hold whole. */
function beforeWhole({ rich, limit }: Source, from: number, cut: number): number {
  const split = inside(rich.wholes, cut);
  return split !== undefined && split.start > from && split.end - split.start <= limit ? split.start : cut;
}

/** Begins of paragraphs outside code and tables. */
function paragraphs({ rich, verbatim }: Source): number[] {
  return [...rich.text.matchAll(paragraph)]
    .map((match) => match.index + match[0].length)
    .filter((at) => inside(verbatim, at) === undefined && inside(rich.wholes, at) === undefined);
}

/** Begin and end without leading blank lines and trailing white space; the indentation of a first line stays. */
function trimmed(text: string, start: number, end: number): readonly [number, number] {
  let to = end;
  while (to > start && /\s/.test(text[to - 1] ?? "")) to -= 1;
  let from = start;
  for (let at = start; at < to && /\s/.test(text[at] ?? ""); at += 1) if (text[at] === "\n") from = at + 1;
  return [Math.min(from, to), to];
}

/** End of the message that begins at `from` and has at most `room` units. */
function cutFor(source: Source, [from, last]: readonly [number, number], room: number): number {
  const cut = last - from <= room ? last : beforeWhole(source, from, cutAfter(source, from, room));
  const beyond = styleBeyond(source.part(from, cut), mostStyles);
  return beyond === undefined ? cut : cutAfter(source, from, beyond);
}

/**
 * Where each message begins and ends. What is decided about one that begins at `from` depends on nothing beyond `from + limit +
 * longestCharacter`.
 */
export function messageRanges(rich: RichText, { limit, firstLimit = limit, mode }: ChunkOptions): (readonly [number, number])[] {
  const source = { rich, part: createSlicer(rich), verbatim: rich.spans.filter(({ kind }) => kind === "pre"), limit };
  const starts = mode === "newline" ? [0, ...paragraphs(source)] : [0];
  const ranges: (readonly [number, number])[] = [];
  for (const [index, start] of starts.entries()) {
    let [from, last] = trimmed(rich.text, start, starts[index + 1] ?? rich.text.length);
    while (from < last) {
      const cut = cutFor(source, [from, last], ranges.length === 0 ? Math.min(firstLimit, limit) : limit);
      const range = trimmed(rich.text, from, cut);
      if (!isBlank(rich.text.slice(...range))) ranges.push(range);
      [from, last] = trimmed(rich.text, cut, last);
    }
  }
  return ranges;
}

export function chunkText(rich: RichText, options: ChunkOptions): RichText[] {
  const part = createSlicer(rich);
  return messageRanges(rich, options).map((range) => part(...range));
}
