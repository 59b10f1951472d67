/**
 * Finds imitations of the wrapper's markers. It searches for the marker word first and then for its opening, so that a
 * text is read only once, however many brackets it contains.
 */
import type { Skeleton } from "./lookalike.ts";
import { createMarkCharacters, type MarkCharacter, roleOf } from "./mark-characters.ts";
import { markOpening } from "./mark-opening.ts";
import { createWordFilter, reading, WordReader } from "./word-reader.ts";

const word = "externalcontent";
const drow = [...word].reverse().join("");
/** How many letters of the word must be recognized. The others may be unknown characters. */
const surely = 9;

const mayContainWord = createWordFilter(word, roleOf);

/** The first and last unit of a marker in the skeleton. */
export interface Mark {
  readonly first: number;
  readonly last: number;
}

/** Finds all markers in order. `source` is the text that the skeleton was built from. */
export function findMarks(skeleton: Skeleton, source: string): readonly Mark[] {
  const { text } = skeleton;
  if (skeleton.isPlain && !mayContainWord(text)) return [];
  const characterAt = createMarkCharacters();
  const reader = new WordReader(word, word.length - surely);
  const found: Mark[] = [];

  /** A folded letter may be ambiguous or an ornament; an ASCII letter is unambiguous. */
  function readingAt(unit: number, { written, folded }: MarkCharacter) {
    return skeleton.isPlain || source.charCodeAt(skeleton.from(unit)) < 128 ? written : folded;
  }

  /** The start of the word whose last character is before `end`. */
  function beginOf(end: number): number {
    const backward = new WordReader(drow, word.length - surely);
    for (let unit = startBefore(text, end); unit >= 0; unit = startBefore(text, unit)) {
      const character = characterAt(text.codePointAt(unit) ?? 0);
      const kind = readingAt(unit, character);
      if (kind !== reading.ornament && backward.read(kind, character.letter)) return unit;
    }
    return 0;
  }

  for (let unit = 0; unit < text.length; ) {
    const point = text.codePointAt(unit) ?? 0;
    const character = characterAt(point);
    const at = unit;
    unit += point > 0xffff ? 2 : 1;
    if (character.sort === "bracket") reader.reset();
    if (character.written === reading.ornament || !reader.read(readingAt(at, character), character.letter)) continue;
    const opening = markOpening({ skeleton, source, characterAt, readingAt }, { from: beginOf(unit), to: unit });
    if (opening === undefined) continue;
    found.push({ first: opening.first, last: closingEnd(text, unit, opening.by) });
    reader.reset();
  }
  return found;
}

/** The start of the character before `unit`; -1 at the beginning of the text. */
function startBefore(text: string, unit: number): number {
  const low = text.charCodeAt(unit - 1);
  const high = text.charCodeAt(unit - 2);
  return low >= 0xdc00 && low <= 0xdfff && high >= 0xd800 && high <= 0xdbff ? unit - 2 : unit - 1;
}

const closing = {
  bracket: /^[^\n<[(]{0,80}?[>\])]+/,
  signs: /^[^\n<[(]{0,80}?(?:[>\])]|[^\w\s<[(]{2})[^\w\s<[(]*/,
} as const;

/** The end of the marker, including its closing and whatever precedes that on the line, such as an id. */
function closingEnd(text: string, unit: number, by: "bracket" | "signs"): number {
  return unit - 1 + (closing[by].exec(text.slice(unit, unit + 100))?.[0].length ?? 0);
}
