/**
 * Decides whether a word that looks like the marker word begins an imitated marker, from the text before it and typical
 * ordinary texts.
 */
import type { Skeleton } from "./lookalike.ts";
import type { MarkCharacter } from "./mark-characters.ts";
import { isOrdinary } from "./ordinary-words.ts";
import { type Reading, reading } from "./word-reader.ts";

/**
 * Most letters allowed between the marker's opening and the word: few after one bracket or punctuation, more after
 * several brackets or a word such as "end".
 */
const lead = { single: 3, several: 16 } as const;
/** Beyond this distance, not counting white space, an opening belongs to something else. */
const farthest = 200;
/** Verbs before the word that identify the kind of marker. */
const verb = /^(?:end|begin|start|stop|close|open|finish|terminate)/;

export interface MarkText {
  readonly skeleton: Skeleton;
  readonly source: string;
  readonly characterAt: (point: number) => MarkCharacter;
  readonly readingAt: (unit: number, character: MarkCharacter) => Reading;
}

export interface MarkOpening {
  /** The skeleton's unit at which the marker begins. */
  readonly first: number;
  readonly by: "bracket" | "signs";
}

/** Finds the opening of the marker whose word spans `from` to `to`; `undefined` if there is none. */
export function markOpening(
  text: MarkText,
  range: { readonly from: number; readonly to: number },
): MarkOpening | undefined {
  const { skeleton, characterAt, readingAt } = text;
  const read = skeleton.text;
  let letters = 0;
  let distance = 0;
  let before = "";
  let newLine = false;
  /** Brackets before the punctuation take precedence. */
  let signs: MarkOpening | undefined;
  /** Only the nearest punctuation is checked, because the text before ordinary punctuation belongs to it. */
  let isJudged = false;
  for (let unit = range.from - 1; unit >= 0 && distance <= farthest && letters <= lead.several; unit -= 1) {
    const code = read.charCodeAt(unit);
    // The second half of a surrogate pair is handled with the first.
    if (code >= 0xdc00 && code <= 0xdfff && unit > 0) continue;
    const character = characterAt(read.codePointAt(unit) ?? code);
    if (character.sort === "line") newLine = true;
    if (character.sort !== "space" && character.sort !== "line") distance += 1;
    if (character.sort === "word") {
      if (readingAt(unit, character) === reading.letter) letters += 1;
      before = read.charAt(unit) + before;
    }
    if (character.sort !== "bracket" && character.sort !== "sign") continue;
    const run = runOf(read, unit, characterAt);
    if (character.sort === "bracket" && isOpening(code)) {
      const brackets = bracketsBefore(read, unit + 1);
      const most = brackets > 1 || verb.test(before) ? lead.several : lead.single;
      // A single round bracket is ordinary prose and does not open a marker.
      if (letters <= most && (brackets > 1 || code !== round)) return { first: unit + 1 - brackets, by: "bracket" };
    }
    if (!isJudged && run.signs > 1 && (letters <= lead.single || verb.test(before))) {
      isJudged = true;
      const ordinary = isOrdinary(text, range, { first: run.touching, last: unit, lead: before, newLine });
      if (!ordinary) signs = { first: run.first, by: "signs" };
    }
    if (character.sort === "bracket") return signs;
  }
  return signs;
}

const round = 40;
const isOpening = (code: number): boolean => code === 60 || code === 91 || code === round;

/** The number of opening brackets directly before `end`. */
function bracketsBefore(text: string, end: number): number {
  let count = 0;
  while (isOpening(text.charCodeAt(end - 1 - count))) count += 1;
  return count;
}

interface Run {
  readonly first: number;
  /** The start of the last group without white space. */
  readonly touching: number;
  readonly signs: number;
}

const longestRun = 100;
/** The end of a replacement text, which must not count as an opening. */
const replaced = " removed]";

/** The run of punctuation that ends at `last`; it may contain spaces. */
function runOf(text: string, last: number, characterAt: (point: number) => MarkCharacter): Run {
  let first = last;
  let touching = last;
  let signs = 0;
  let together = true;
  for (let unit = last; unit >= 0 && last - unit < longestRun; unit -= 1) {
    const code = text.charCodeAt(unit);
    if (code >= 0xdc00 && code <= 0xdfff && unit > 0) continue;
    const { sort } = characterAt(text.codePointAt(unit) ?? code);
    if (sort === "space") {
      together = false;
      continue;
    }
    if ((sort !== "sign" && sort !== "bracket") || (code === 93 && text.endsWith(replaced, unit + 1))) break;
    signs += 1;
    first = unit;
    if (together) touching = unit;
  }
  return { first, touching, signs };
}
