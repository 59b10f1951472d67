/**
 * Splits a text into messages: at a paragraph, else at a line, a sentence or a word, but never inside a character.
 * Styles continue in the next message. A table that fits into one message is not split. A message has no more styles
 * than the platform displays.
 */
import type { Dialect } from "./dialect.ts";
import { betweenCharacters } from "./graphemes.ts";
import { createSlicer, isBlank, type RichText, type Whole } from "./rich-text.ts";
import { styleBeyond } from "./stretches.ts";

export interface ChunkOptions {
  readonly dialect: Pick<Dialect, "mostStyles" | "size" | "write">;
  /** Maximum size of a message, as the platform counts. */
  readonly limit: number;
  /** Maximum size of the first message, if it is shorter than the others because it is a caption. */
  readonly firstLimit?: number;
  /** `newline`: one message for each paragraph. */
  readonly mode: "length" | "newline";
}

/** The end of the last match of `pattern` in the window that is not too close to its start. */
function lastBreak(window: string, least: number, pattern: RegExp): number {
  let found = -1;
  pattern.lastIndex = 0;
  // Creates no object for each match, of which there may be one for each character.
  while (pattern.test(window)) if (pattern.lastIndex > least) found = pattern.lastIndex;
  return found;
}

const paragraph = /\n[ \t]*\n+/g;
const line = /\n/g;
const sentence = /[.!?…]["'”’)\]]*\s+|[。！？]/g;
const word = /\s+/g;

/** A text, with everything that is the same for all cuts. */
interface Source {
  readonly rich: RichText;
  /** Returns the part between two positions. */
  readonly part: ReturnType<typeof createSlicer>;
  /** Code blocks and aligned tables. */
  readonly verbatim: readonly Whole[];
  /** Maximum size of every message but the first. */
  readonly limit: number;
  readonly dialect: Pick<Dialect, "mostStyles" | "size" | "write">;
}

/** The range that contains the position `at`; `undefined` if none does. The ranges are ordered and do not overlap. */
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
  // Inside a code block, blank lines have no special meaning, and there are no sentences.
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

/** Moves a cut to before a table that fits into the next message. */
function beforeWhole({ rich, limit }: Source, from: number, cut: number): number {
  const split = inside(rich.wholes, cut);
  return split !== undefined && split.start > from && split.end - split.start <= limit ? split.start : cut;
}

/** The starts of paragraphs outside code and tables. */
function paragraphs({ rich, verbatim }: Source): number[] {
  return [...rich.text.matchAll(paragraph)]
    .map((match) => match.index + match[0].length)
    .filter((at) => inside(verbatim, at) === undefined && inside(rich.wholes, at) === undefined);
}

/** Removes leading blank lines and trailing white space. The indentation of the first line is kept. */
function trimmed(text: string, start: number, end: number): readonly [number, number] {
  const range = text.slice(start, end).trimEnd();
  const indented = range.length - range.trimStart().length;
  const lines = indented === 0 ? 0 : range.lastIndexOf("\n", indented - 1) + 1;
  return [start + lines, start + range.length];
}

/** The end of the message that begins at `from` and has at most the size `room`. */
function cutFor(source: Source, [from, last]: readonly [number, number], room: number): number {
  const { mostStyles, size } = source.dialect;
  const cut = last - from <= room ? last : beforeWhole(source, from, cutAfter(source, from, room));
  const beyond = mostStyles === undefined ? undefined : styleBeyond(source.part(from, cut), mostStyles);
  const end = beyond === undefined ? cut : cutAfter(source, from, beyond);
  return size === undefined ? end : withinSize(source, [from, end], room);
}

/** With its markup, a message may be larger than its text: an earlier cut, until it fits. */
function withinSize(source: Source, [from, end]: readonly [number, number], room: number): number {
  const { dialect } = source;
  const least = (source.rich.text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1;
  for (let cut = end, share = 0.95; ; share /= 1.1) {
    const part = source.part(...trimmed(source.rich.text, from, cut));
    const size = dialect.size?.(part, dialect.write(part)) ?? 0;
    if (size <= room || cut - from <= least) return cut;
    const shorter = Math.max(least, Math.floor((cut - from) * Math.min(share, (0.98 * room) / size)));
    cut = cutAfter(source, from, shorter);
  }
}

/**
 * The range of each message. Decisions about a message that begins at `from` depend on no text after `from + limit +
 * longestCharacter`.
 */
export function messageRanges(
  rich: RichText,
  { dialect, limit, firstLimit = limit, mode }: ChunkOptions,
): (readonly [number, number])[] {
  const source = {
    rich,
    part: createSlicer(rich),
    verbatim: rich.spans.filter(({ kind }) => kind === "pre"),
    limit,
    dialect,
  };
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
