/**
 * Finds control tokens of chat templates, and the tags that models use for tool calls, in the visible form of a text.
 */
import {
  isReserved,
  isSpecialWord,
  isSquareWord,
  isTokenName,
  isToolWord,
  longestName,
  mayBeginName,
  takesAnyAttribute,
  takesAttributes,
} from "./token-names.ts";

/** The first and last unit of a token in the text. */
export interface Found {
  readonly first: number;
  readonly last: number;
}

/** Longest token, including attributes. */
const longest = 300;
/** Most white space, bars and punctuation around a name. */
const longestAround = 40;
const piped = /^\s{0,16}\|[^<>|[\]]{0,100}\|\s{0,16}$/;

/** Attributes after a name. A comparison such as `< system && b >` has an operator there instead. */
const mayBeAttributes = /^[a-z_:-]+(?![a-z_:-])\s*(?:["'\w=:,/|(]|$)/;

/** Longest prefix, including separators between its letters. */
const longestPrefix = 60;

const codeOf = (character: string): number => character.charCodeAt(0);
const angle = codeOf("<");
const square = codeOf("[");
const round = codeOf("(");
const colon = codeOf(":");
const partners: Readonly<Record<number, number>> = {
  [angle]: codeOf(">"),
  [square]: codeOf("]"),
  [round]: codeOf(")"),
};

/** Lookup tables by character code: characters allowed around a name, and characters allowed between its words. */
const table = (characters: string): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => Number(characters.includes(String.fromCharCode(code))));
const decoration = table(" \t\n\v\f\r|/\\!?#*_~.:=-");
const separator = table(" \t\n\v\f\r_.-");
const afterHead = table(" \t\n\v\f\r=:,/|\"'(");

const opening = /[<[(]/g;

const isLetter = (code: number): boolean => code >= 97 && code <= 122;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Finds all tokens of a skeleton's text, in order. */
export function findControlTokens(text: string): readonly Found[] {
  const found: Found[] = [];
  opening.lastIndex = 0;
  while (opening.test(text)) {
    const unit = opening.lastIndex - 1;
    const open = text.charCodeAt(unit);
    // In a row of brackets, the last one opens the token.
    if (text.charCodeAt(unit + 1) === open) continue;
    const close = endOfToken(text, unit, open);
    if (close === undefined) continue;
    const first = text.charCodeAt(unit - 1) === open ? unit - 1 : unit;
    const last = text.charCodeAt(close + 1) === partners[open] ? close + 1 : close;
    found.push({ first, last });
    opening.lastIndex = last + 1;
  }
  return found;
}

/** The end of the token whose bracket is at `from`; `undefined` if no token begins there. */
function endOfToken(text: string, from: number, open: number): number | undefined {
  let start = from + 1;
  let bar = false;
  while (start - from < longestAround && decoration[text.charCodeAt(start)] === 1) {
    bar ||= text.charAt(start) === "|";
    start += 1;
  }
  const brackets = open === angle || bar ? "angle" : "other";
  const { whole, heads, end } = mayBeName(text, start, brackets) ? readName(text, start) : nothing;
  const inTag = open === angle && heads.some((name) => takesAnyAttribute(name) || takesAttributes(name));
  const isKnown = inTag || whole !== undefined || heads.some(isToolWord);
  if (!isKnown && !bar) return undefined;
  const close = closeOf(text, from, open, inTag);
  if (close === undefined) return undefined;
  if (
    whole !== undefined &&
    endsName(text, end, close) &&
    isWholeToken(open, whole, bar && text.lastIndexOf("|", close) > start)
  )
    return close;
  if (heads.length > 0 && hasAttributes(open, heads, text.slice(start, close))) return close;
  return open === angle && bar && piped.test(text.slice(from + 1, close)) ? close : undefined;
}

interface Name {
  /** The whole name, if all letters up to the next other character form a known name. */
  readonly whole: string | undefined;
  /** The first word, and the first two words together, if other text follows them. */
  readonly heads: readonly string[];
  /** The offset after the name. */
  readonly end: number;
}

const nothing: Name = { whole: undefined, heads: [], end: 0 };

/**
 * A fast pre-check, false for most texts in brackets: no name begins with the first two letters, and the text is not a
 * prefix of one.
 */
function mayBeName(text: string, start: number, brackets: "angle" | "other"): boolean {
  const first = text.charCodeAt(start);
  if (!isLetter(first)) return false;
  let next = start + 1;
  while (next - start < longestAround && separator[text.charCodeAt(next)] === 1) next += 1;
  const second = text.charCodeAt(next);
  if (isLetter(second) ? mayBeginName(first, second, brackets) : mayBeginName(first, first, brackets)) return true;
  if (brackets === "other") return false;
  let end = next;
  while (end - start < longestPrefix && (isLetter(text.charCodeAt(end)) || separator[text.charCodeAt(end)] === 1))
    end += 1;
  return text.charCodeAt(end) === colon;
}

/** Reads a possible name at `start`, skipping namespace prefixes and ignoring spaces, hyphens and underscores. */
function readName(text: string, start: number): Name {
  if (!isLetter(text.charCodeAt(start))) return nothing;
  const last = Math.min(text.length, start + longest);
  const prefixes: string[] = [];
  let heads: string[] = [];
  let name = "";
  /** True while every letter so far is separate, as in `i n v o k e`. */
  let isSpelled = true;
  let unit = start;
  for (; unit < last && name.length <= longestName; unit += 1) {
    const code = text.charCodeAt(unit);
    const local =
      code === colon
        ? localName(text, unit, { isTight: heads.length === 0, isSpelled: isSpelled && name.length > 1 })
        : undefined;
    if (local !== undefined) {
      prefixes.push(name);
      heads = [];
      name = "";
      isSpelled = true;
      unit = local - 1;
      continue;
    }
    if (afterHead[code] === 1 && heads.length < 2 && heads.at(-1) !== name) heads.push(name);
    if (isLetter(code) || isDigit(code)) {
      if (isSpelled && name !== "" && isLetter(text.charCodeAt(unit - 1))) {
        isSpelled = false;
        if (name.length > 2) heads.push(name.slice(0, -1));
      }
      name += text.charAt(unit);
    } else if (separator[code] !== 1) break;
  }
  return { whole: isKnownName(name) ? name : undefined, heads: [...prefixes, ...heads], end: unit };
}

/**
 * The start of the name after a prefix and its colon. `<role: user>` is ordinary text: if a space follows the colon,
 * the prefix must be spelled out letter by letter, or a tool word must follow.
 */
function localName(
  text: string,
  colonAt: number,
  { isTight, isSpelled }: { readonly isTight: boolean; readonly isSpelled: boolean },
): number | undefined {
  let at = colonAt + 1;
  while (at - colonAt < longestAround && separator[text.charCodeAt(at)] === 1) at += 1;
  if (!isLetter(text.charCodeAt(at))) return undefined;
  return isSpelled || (isTight && at === colonAt + 1) || beginsWithTool(text, at) ? at : undefined;
}

function beginsWithTool(text: string, start: number): boolean {
  let name = "";
  for (let unit = start; unit - start < longestPrefix && name.length <= longestName; unit += 1) {
    const code = text.charCodeAt(unit);
    // `<result: tool call failed>` is ordinary text as well.
    if (isLetter(code)) name += text.charAt(unit);
    else if (!/[_.-]/.test(text.charAt(unit))) return false;
    if (isToolWord(name)) return true;
  }
  return false;
}

const isKnownName = (name: string): boolean =>
  isSpecialWord(name) || isTokenName(name) || isSquareWord(name) || isReserved(name);

/** Whether only decoration separates the name from the bracket. */
function endsName(text: string, end: number, close: number): boolean {
  let unit = end;
  while (unit < close && decoration[text.charCodeAt(unit)] === 1) unit += 1;
  return unit >= close;
}

/**
 * The bracket that closes the one at `from`; `undefined` if another one opens first (unless inside a tag) or the
 * content is too long.
 */
function closeOf(text: string, from: number, open: number, inTag: boolean): number | undefined {
  const close = partners[open];
  const end = Math.min(text.length, from + longest);
  for (let unit = from + 1; unit < end; unit += 1) {
    const code = text.charCodeAt(unit);
    if (code === close) return unit;
    if (code === open && !inTag) return undefined;
  }
  return undefined;
}

function isWholeToken(open: number, name: string, isPiped: boolean): boolean {
  if (isSpecialWord(name)) return true;
  const isToken = isTokenName(name) || isReserved(name);
  if (open === angle) return isToken;
  return (open === square && isSquareWord(name)) || (isPiped && isToken);
}

/** Whether a tool or template word is followed by attributes, as in `system x` or `tool_call name="x"`. */
function hasAttributes(open: number, heads: readonly string[], body: string): boolean {
  const hasValue = body.includes("=");
  if (open === angle && !mayBeAttributes.test(body)) return false;
  if (open === angle) return heads.some((name) => takesAnyAttribute(name) || (hasValue && takesAttributes(name)));
  return hasValue && heads.some(isToolWord);
}
