/** Cuts a text into messages of a platform. */
import { betweenCharacters, longestCharacter } from "../markup/graphemes.ts";
import { isBlank } from "../markup/rich-text.ts";

/** Where a cut is best, with the share of a piece that has to be filled before it. */
const breaks: readonly (readonly [RegExp, number])[] = [
  [/\n[ \t]*\n+/g, 0.3],
  [/\n/g, 0.4],
  [/[.!?…]["'”’)\]]*\s+|[。！？]/g, 0.4],
  [/\s+/g, 0],
];

/**
 * Cuts a text into pieces that a platform takes: at a paragraph, else at a line, a sentence or a word, and never inside
 * a character. White space at a cut goes, everything else stays, and no piece is blank. `unit` is how the platform
 * counts: `utf16` (the length of a string), `bytes` of UTF-8, or `characters` (code points). A text that shows nothing
 * has no piece. Throws `RangeError` where not even one character fits: `limit` below 4.
 *
 * @example
 * cutText("one two three", { limit: 8, unit: "bytes" }); // ["one two", "three"]
 */
export function cutText(
  text: string,
  { limit, unit = "utf16" }: { readonly limit: number; readonly unit?: "utf16" | "bytes" | "characters" },
): readonly string[] {
  if (!Number.isInteger(limit) || limit < 4)
    throw new RangeError(`limit of cutText is ${limit}: give a whole number of at least 4`);
  const pieces: string[] = [];
  const whole = text.toWellFormed();
  for (let from = startOf(whole, 0); from < whole.length; ) {
    const end = endOf(whole, from, { limit, unit });
    const cut = end === whole.length ? end : cutBefore(whole, from, end);
    const piece = whole.slice(from, cut).trimEnd();
    if (!isBlank(piece)) pieces.push(piece);
    from = startOf(whole, cut);
  }
  return pieces;
}

/** Skips blank lines, but keeps the indentation of the first line that has visible text. */
function startOf(text: string, at: number): number {
  let from = at;
  for (let next = at; next < text.length && /\s/.test(text.charAt(next)); next += 1)
    if (text[next] === "\n") from = next + 1;
  // A cut between two words leaves a space that indents nothing.
  return from === at && at > 0 && text[at - 1] !== "\n"
    ? at + (/^[^\S\n]*/.exec(text.slice(at, at + longestCharacter))?.[0].length ?? 0)
    : from;
}

/** The last position that a piece from `from` may reach, between two code points. */
function endOf(
  text: string,
  from: number,
  { limit, unit }: { readonly limit: number; readonly unit: "utf16" | "bytes" | "characters" },
): number {
  let size = 0;
  let at = from;
  while (at < text.length) {
    const point = text.codePointAt(at) ?? 0;
    const units = point > 0xffff ? 2 : 1;
    size +=
      unit === "utf16"
        ? units
        : unit === "characters"
          ? 1
          : point < 0x80
            ? 1
            : point < 0x800
              ? 2
              : point > 0xffff
                ? 4
                : 3;
    if (size > limit) return at;
    at += units;
  }
  return at;
}

/** The best cut of a piece that may reach `end`. */
function cutBefore(text: string, from: number, end: number): number {
  // White space just behind the piece is a break as well, and is not part of it.
  const window = text.slice(from, end + 1);
  for (const [pattern, share] of breaks) {
    const least = Math.floor((end - from) * share);
    let found = -1;
    for (const { 0: match, index } of window.matchAll(pattern)) {
      const seen = index + match.trimEnd().length;
      if (seen > least && seen <= end - from) found = index + match.length;
    }
    if (found > 0) return Math.min(from + found, text.length);
  }
  return betweenCharacters(text, from, end);
}
