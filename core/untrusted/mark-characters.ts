/** Classifies the characters of a folded text for the search for the marker word. */
import { type Reading, reading } from "./word-reader.ts";

/** Letters that can be drawn with digits and punctuation, or that look alike, such as `i` and `l`. */
const drawn: Readonly<Record<string, string>> = {
  i: "l",
  j: "l",
  "|": "l",
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "+": "t",
  "!": "l",
};
const letterOrDigit = /[\p{L}\p{N}]/u;

export interface MarkCharacter {
  readonly sort: "space" | "line" | "sign" | "bracket" | "word";
  /** Its role in the marker word if it was written literally. */
  readonly written: Reading;
  /** Its role in the marker word if another character was folded to it. */
  readonly folded: Reading;
  /** Code of the letter that it is or resembles. */
  readonly letter: number;
}

function sortOf(character: string): MarkCharacter["sort"] {
  if (letterOrDigit.test(character)) return "word";
  if (/[\n\v\f\r]/.test(character)) return "line";
  if (character.trim() === "") return "space";
  return "<>[]()".includes(character) ? "bracket" : "sign";
}

const isLatin = (character: string): boolean => character.length === 1 && character >= "a" && character <= "z";

function describe(character: string): MarkCharacter {
  const sort = sortOf(character);
  const known = drawn[character];
  const letter = (known ?? character).charCodeAt(0);
  if (isLatin(character))
    return { sort, written: reading.letter, folded: known === undefined ? reading.alike : reading.drawn, letter };
  const either = known !== undefined ? reading.drawn : sort === "word" ? reading.unknown : reading.ornament;
  return { sort, written: either, folded: either, letter };
}

const ascii = Array.from({ length: 128 }, (_, code) => describe(String.fromCharCode(code)));

/** The role of an ASCII character that is written literally. A bracket ends a partial word. */
export function roleOf(code: number): {
  readonly kind: Reading;
  readonly letter: number;
  readonly endsWord: boolean;
} {
  const { written, letter, sort } = ascii[code] as MarkCharacter;
  return { kind: written, letter, endsWord: sort === "bracket" };
}

/** Creates a cached look-up by code point, because a text repeats its characters. */
export function createMarkCharacters(): (point: number) => MarkCharacter {
  const others = new Map<number, MarkCharacter>();
  return (point) => {
    if (point < 128) return ascii[point] as MarkCharacter;
    let known = others.get(point);
    if (known === undefined) {
      known = describe(String.fromCodePoint(point));
      others.set(point, known);
    }
    return known;
  };
}
