/** What a character of a folded text can mean to the search for the word of a mark. */
import { type Reading, reading } from "./word-reader.ts";

/** Letters that are drawn with digits and signs, or look the same: an `i` passes for an `l`. */
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
  /** As a part of the word of a mark, when it was written like this. */
  readonly written: Reading;
  /** The same when something else was folded to it. */
  readonly folded: Reading;
  /** Code of the letter that it is, or is drawn for. */
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
  if (isLatin(character)) return { sort, written: reading.letter, folded: known === undefined ? reading.alike : reading.drawn, letter };
  const either = known !== undefined ? reading.drawn : sort === "word" ? reading.unknown : reading.ornament;
  return { sort, written: either, folded: either, letter };
}

const ascii = Array.from({ length: 128 }, (_, code) => describe(String.fromCharCode(code)));

/** By code: whether a character, written as it is, may stand for a letter. */
export function mayStandFor(letter: string): Uint8Array {
  return Uint8Array.from(ascii, ({ written, letter: code }) =>
    Number(written === reading.unknown || (written !== reading.ornament && code === letter.charCodeAt(0))),
  );
}

/** By code: whether a character, written as it is, ends what was begun of a word: a letter or a bracket. */
export const interrupts = Uint8Array.from(ascii, ({ written, sort }) => Number(written === reading.letter || sort === "bracket"));

/** Looks up characters by their code point; a text repeats its characters. */
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
