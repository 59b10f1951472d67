/**
 * Finds what imitates a mark of the wrapper. The word of the mark is searched first, then what opens it: a text is read once,
 * however many brackets it has.
 */
import type { Skeleton } from "./lookalike.ts";
import { createMarkCharacters, interrupts, type MarkCharacter, mayStandFor } from "./mark-characters.ts";
import { markOpening } from "./mark-opening.ts";
import { reading, WordReader } from "./word-reader.ts";

const word = "externalcontent";
const drow = [...word].reverse().join("");
/** Letters of the word that must be there as such; the others may be letters that no table knows. */
const surely = 9;

const begins = mayStandFor(word.charAt(0));
const continues = mayStandFor(word.charAt(1));

/** First and last unit of the skeleton. */
export interface Mark {
  readonly first: number;
  readonly last: number;
}

/** In the order of the text; `source` is the text of the skeleton. */
export function findMarks(skeleton: Skeleton, source: string): readonly Mark[] {
  const { text } = skeleton;
  const characterAt = createMarkCharacters();
  const reader = new WordReader(word, word.length - surely);
  const found: Mark[] = [];

  /** A letter that was folded may be another one, or nothing but an ornament; one of ASCII is what it is. */
  function readingAt(unit: number, { written, folded }: MarkCharacter) {
    return skeleton.isPlain || source.charCodeAt(skeleton.from(unit)) < 128 ? written : folded;
  }

  /** Where the word begins that ends with the character before `end`. */
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
    if (skeleton.isPlain && reader.isIdle()) {
      unit = nextBeginning(text, unit);
      if (unit === text.length) break;
    }
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

/** Where the word may begin next in a text of ASCII: few texts have many of its second letter. The length of the text: nowhere. */
function nextBeginning(text: string, from: number): number {
  for (let second = from + 1; second < text.length; second += 1) {
    if (continues[text.charCodeAt(second)] === 0) continue;
    // Back over signs, and digits that may be ornaments.
    let first = second;
    for (let unit = second - 1; unit >= from; unit -= 1) {
      const code = text.charCodeAt(unit);
      if (begins[code] === 1) first = unit;
      if (interrupts[code] === 1) break;
    }
    if (first < second) return first;
    from = second;
  }
  return text.length;
}

/** Where the character before `unit` begins; -1 before the first. */
function startBefore(text: string, unit: number): number {
  const low = text.charCodeAt(unit - 1);
  const high = text.charCodeAt(unit - 2);
  return low >= 0xdc00 && low <= 0xdfff && high >= 0xd800 && high <= 0xdbff ? unit - 2 : unit - 1;
}

const closing = {
  bracket: /^[^\n<[(]{0,80}?[>\])]+/,
  signs: /^[^\n<[(]{0,80}?(?:[>\])]|[^\w\s<[(]{2})[^\w\s<[(]*/,
} as const;

/** What closes the mark belongs to it, with what stands before it on the line, such as an id. */
function closingEnd(text: string, unit: number, by: "bracket" | "signs"): number {
  return unit - 1 + (closing[by].exec(text.slice(unit, unit + 100))?.[0].length ?? 0);
}
