/** Random characters for properties. */
import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };
const last = 0x10_ffff;

const characterAt = (index: number) =>
  String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count);

function indexOf(character: unknown): number {
  const point = typeof character === "string" ? character.codePointAt(0) : undefined;
  if (point === undefined) throw new Error("It is not a character.");
  const index = point < surrogates.first ? point : point - surrogates.count;
  if (characterAt(index) !== character) throw new Error("It is not a single whole character.");
  return index;
}

/**
 * Any code point but halves of a pair, as the unit of `fc.string`. The strings are those of the unit `binary` of
 * fast-check, which first makes a table of the million code points: a second of work in each process.
 */
export const anyCharacter = fc.integer({ min: 0, max: last - surrogates.count }).map(characterAt, indexOf);
