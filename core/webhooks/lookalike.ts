/**
 * What a text looks like, for the search of imitated markers and control tokens: one pass that normalises, drops what
 * cannot be seen and folds look-alikes, and remembers for each folded character where it came from.
 */
import { folds } from "./confusables.ts";

const square = /[[\]\u3010\u3011\u3014-\u3017\u301a\u301b\u27e6\u27e7\u2045\u2046\u2772\u2773\u298b-\u2990]/;
const round = /[(){}\u2985\u2986\u2768-\u276b\u2774\u2775]/;
/** Format, combining and control characters, and the letters and blanks that are drawn as nothing. */
const invisible = /[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]|(?![\t\n\v\f\r])\p{Cc}/u;
const opening = /[\p{Ps}\p{Pi}]/u;
const closing = /[\p{Pe}\p{Pf}]/u;
/** A letter in brackets that is one character is that letter, and no bracket. */
const enclosed = /^\((.+)\)$/;

const longestForm = 4;

/** A character as markup writes it, also when somebody has escaped it more than once. */
const entity = /^&(?:amp;){0,4}(?:(lt|gt|lbrack|rbrack|lsqb|rsqb|shy|zwj|zwnj|lrm|rlm)|#0{0,5}(\d{1,7})|#x0{0,5}([0-9a-f]{1,6}));?/i;
const longestEntity = 40;
const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", lbrack: "[", lsqb: "[", rbrack: "]", rsqb: "]" };

export interface Skeleton {
  /** Lower case, look-alikes folded, brackets as `<`, `[` or `(` and their partners. */
  readonly text: string;
  /** Where in the source begins, and ends, what a UTF-16 unit of `text` stands for. */
  from(unit: number): number;
  to(unit: number): number;
}

/** A text of these alone is what it looks like, unit by unit; most are. */
const plain = /^[\t\n\v\f\r -~]*$/;
const beginsEntity = /&(?:amp;|#|lt|gt|[lr]brack|[lr]sqb|shy|zwn?j|lrm|rlm)/i;

/** Letters that are drawn as nothing and still are letters: some readers take them for what they encode. */
const tagLetter = /[\u{e0020}-\u{e007e}]/u;

/** The ways in which a text can be read: as it is seen and, where it hides letters that are not, with those. */
export function buildSkeletons(source: string): readonly Skeleton[] {
  if (plain.test(source) && !beginsEntity.test(source)) {
    const text = source.toLowerCase().replaceAll("{", "(").replaceAll("}", ")");
    return [{ text, from: (unit) => unit, to: (unit) => unit + 1 }];
  }
  const seen = buildSkeleton(source, false);
  return tagLetter.test(source) ? [seen, buildSkeleton(source, true)] : [seen];
}

function buildSkeleton(source: string, withTagLetters: boolean): Skeleton {
  const from: number[] = [];
  const to: number[] = [];
  // A text repeats its letters; to look one up again is cheaper than to take it apart again.
  const known = new Map<string, string>();
  const fold = (character: string): string => {
    let folded = known.get(character);
    if (folded === undefined) {
      folded = foldCharacter(withTagLetters && tagLetter.test(character) ? unTag(character) : character);
      known.set(character, folded);
    }
    return folded;
  };
  let text = "";
  for (let index = 0; index < source.length; ) {
    const code = source.codePointAt(index) ?? 0;
    const written = code === ampersand ? readEntity(source, index) : undefined;
    const folded = written === undefined ? (ascii[code] ?? fold(String.fromCodePoint(code))) : fold(written.character);
    const length = written?.length ?? (code > 0xffff ? 2 : 1);
    for (let unit = 0; unit < folded.length; unit++) {
      from.push(index);
      to.push(index + length);
    }
    text += folded;
    index += length;
  }
  return { text, from: (unit) => from[unit] ?? 0, to: (unit) => to[unit] ?? 0 };
}

function unTag(character: string): string {
  return String.fromCharCode((character.codePointAt(0) ?? 0) & 0x7f);
}

function readEntity(source: string, index: number): { readonly character: string; readonly length: number } | undefined {
  const match = entity.exec(source.slice(index, index + longestEntity));
  if (match === null) return undefined;
  const [all, name, decimal, hexadecimal] = match;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "0", 16) : Number(decimal);
  const character = name === undefined ? (code > 0x10ffff ? "" : String.fromCodePoint(code)) : (named[name.toLowerCase()] ?? "");
  return { character, length: all.length };
}

function foldCharacter(character: string): string {
  const own = folds.get(character.toLowerCase());
  if (own !== undefined) return own;
  let out = "";
  // The compatibility form, taken apart: an accent is a mark of its own then, and is dropped like one.
  const parts = character.normalize("NFKD").toLowerCase();
  // One character that stands for a whole phrase passes for no letter.
  if (parts.length > longestForm) return character;
  for (const part of enclosed.exec(parts)?.[1] ?? parts) {
    if (invisible.test(part)) continue;
    out += folds.get(part) ?? foldBracket(part);
  }
  return out;
}

function foldBracket(character: string): string {
  if (opening.test(character)) return square.test(character) ? "[" : round.test(character) ? "(" : "<";
  if (closing.test(character)) return square.test(character) ? "]" : round.test(character) ? ")" : ">";
  return character;
}

const ampersand = 38;
/** Most texts are mostly this, so it is worked out once; without the patterns, whose classes take a megabyte when they are first used. */
const ascii = Array.from({ length: 128 }, (_, code) => {
  const isInvisible = code === 0x7f || code < 0x09 || (code > 0x0d && code < 0x20);
  return isInvisible ? "" : String.fromCharCode(code).toLowerCase().replace("{", "(").replace("}", ")");
});
