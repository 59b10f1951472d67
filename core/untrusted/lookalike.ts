/**
 * Computes what a text looks like, for the search for imitated markers and control tokens. One pass normalizes the
 * text, drops invisible characters, folds look-alikes and records the origin of each folded character.
 */
import { folds } from "./confusables.ts";

const square = /[[\]\u3010\u3011\u3014-\u3017\u301a\u301b\u27e6\u27e7\u2045\u2046\u2772\u2773\u298b-\u2990]/;
const round = /[(){}\u2985\u2986\u2768-\u276b\u2774\u2775]/;
/** Format, combining and control characters, and letters and blanks without a visible shape. */
const invisible = /[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]|(?![\t\n\v\f\r])\p{Cc}/u;
const opening = /[\p{Ps}\p{Pi}]/u;
const closing = /[\p{Pe}\p{Pf}]/u;
/** A bracketed letter that is a single character counts as the letter, without brackets. */
const enclosed = /^\((.+)\)$/;

/**
 * Ideographs and syllables resemble no Latin letter. They are not folded, because a text may contain thousands of
 * different ones.
 */
const itself = /[\u3400-\u9fff\uac00-\ud7a3\u{20000}-\u{2f7ff}]/u;
const lineBreak = /[\u0085\u2028\u2029]/;

const longestForm = 4;

/** An HTML entity, even if it was escaped more than once. */
const entity =
  /&(?:amp;){0,4}(?:(lt|gt|lbrack|rbrack|lsqb|rsqb|shy|zwj|zwnj|lrm|rlm)|#0{0,5}(\d{1,7})|#x0{0,5}([0-9a-f]{1,6}));?/iy;
const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", lbrack: "[", lsqb: "[", rbrack: "]", rsqb: "]" };

export interface Skeleton {
  /** The folded text: lower case, look-alikes replaced, brackets as `<`, `[` or `(` and their partners. */
  readonly text: string;
  /** True if each unit corresponds to the unit at the same offset in the source. */
  readonly isPlain: boolean;
  /** The start, in the source, of what a UTF-16 unit of `text` represents. */
  from(unit: number): number;
  to(unit: number): number;
}

/** Texts that consist only of these characters, as most do, need no folding. */
const plain = /^[\t\n\v\f\r -~]*$/;
const beginsEntity = /&(?:amp;|#|lt|gt|[lr]brack|[lr]sqb|shy|zwn?j|lrm|rlm)/i;

/** Invisible letters that some models still read as the letters that they encode. */
const tagLetter = /[\u{e0020}-\u{e007e}]/u;

/** The possible readings of a text: as visible and, if it contains invisible letters, also with these. */
export function buildSkeletons(source: string): readonly Skeleton[] {
  if (plain.test(source) && !(source.includes("&") && beginsEntity.test(source))) {
    const text = source.toLowerCase().replaceAll("{", "(").replaceAll("}", ")");
    return [{ text, isPlain: true, from: (unit) => unit, to: (unit) => unit + 1 }];
  }
  const seen = buildSkeleton(source, false);
  return tagLetter.test(source) ? [seen, buildSkeleton(source, true)] : [seen];
}

function buildSkeleton(source: string, withTagLetters: boolean): Skeleton {
  let units = new Uint16Array(source.length + longestForm);
  let from = new Uint32Array(units.length);
  let to = new Uint32Array(units.length);
  // Cached, because a text repeats its letters and a look-up is cheaper than folding again.
  const known = new Map<number, string>();
  const fold = (point: number): string => {
    let folded = known.get(point);
    if (folded === undefined) {
      const character = String.fromCodePoint(point);
      folded = foldCharacter(withTagLetters && tagLetter.test(character) ? unTag(character) : character);
      known.set(point, folded);
    }
    return folded;
  };
  let length = 0;
  for (let index = 0; index < source.length; ) {
    const point = source.codePointAt(index) ?? 0;
    const written = point === ampersand ? readEntity(source, index) : undefined;
    const character = written?.point ?? point;
    const folded = ascii[character] ?? fold(character);
    const end = index + (written?.length ?? (point > 0xffff ? 2 : 1));
    if (length + folded.length > units.length) {
      units = grown(units, new Uint16Array(2 * units.length));
      from = grown(from, new Uint32Array(units.length));
      to = grown(to, new Uint32Array(units.length));
    }
    for (let unit = 0; unit < folded.length; unit += 1) {
      units[length] = folded.charCodeAt(unit);
      from[length] = index;
      to[length] = end;
      length += 1;
    }
    index = end;
  }
  const text = Buffer.from(units.buffer, 0, length * units.BYTES_PER_ELEMENT).toString("utf16le");
  return { text, isPlain: false, from: (unit) => from[unit] ?? 0, to: (unit) => to[unit] ?? 0 };
}

function grown<T extends Uint16Array | Uint32Array>(full: T, larger: T): T {
  larger.set(full);
  return larger;
}

function unTag(character: string): string {
  return String.fromCharCode((character.codePointAt(0) ?? 0) & 0x7f);
}

/** Reads an entity. Invalid code points and named invisible characters yield 0, which is treated as invisible. */
function readEntity(source: string, index: number): { readonly point: number; readonly length: number } | undefined {
  entity.lastIndex = index;
  const match = entity.exec(source);
  if (match === null) return undefined;
  const [all, name, decimal, hexadecimal] = match;
  if (name !== undefined) return { point: named[name.toLowerCase()]?.charCodeAt(0) ?? 0, length: all.length };
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "0", 16) : Number(decimal);
  return { point: code > 0x10ffff ? 0 : code, length: all.length };
}

function foldCharacter(character: string): string {
  const own = folds.get(character.toLowerCase());
  if (own !== undefined) return own;
  if (itself.test(character)) return character;
  if (lineBreak.test(character)) return "\n";
  let out = "";
  // NFKD separates accents into combining marks, which are then dropped.
  const parts = character.normalize("NFKD").toLowerCase();
  // A single character that expands to a whole phrase does not resemble a letter.
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
/**
 * ASCII is precomputed, because most texts consist of it. Regular expressions are avoided here: their classes take a
 * megabyte at the first use.
 */
const ascii = Array.from({ length: 128 }, (_, code) => {
  const isInvisible = code === 0x7f || code < 0x09 || (code > 0x0d && code < 0x20);
  return isInvisible ? "" : String.fromCharCode(code).toLowerCase().replace("{", "(").replace("}", ")");
});
