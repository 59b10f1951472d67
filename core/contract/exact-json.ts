/**
 * JSON whose numbers keep all digits. A number that JavaScript cannot represent, such as an integer beyond 2^53 or
 * `1e400`, becomes raw JSON (`JSON.rawJSON`), which `JSON.stringify` writes unchanged. Other values are parsed as by
 * `JSON.parse`.
 */
import type { Json } from "./types.ts";

interface RawJson {
  readonly rawJSON: string;
}

interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

/** The type definitions lack these functions, but every supported Node version has them. */
const json = JSON as unknown as ExactJson;

/**
 * Matches every text that has a number which loses digits. Nearly all others have no long run of digits where a number
 * can begin (hashes and ids are strings), and no exponent of three digits.
 */
const mayLoseDigits = /(?:^|[\s:,[])-?\d[\d.]{15}|\d[eE][+-]?\d{3,}(?=[\s,}\]]|$)/;
/** More digits of an exponent than any number needs. */
const longestExponent = 6;

/** The shortest number that loses digits, such as `1e400`. */
const fewestCharacters = 5;

/** Whether such a number is outside the strings of a text, where long runs of digits are frequent. */
function hasLongNumber(text: string): boolean {
  let start = 0;
  while (start < text.length) {
    const quote = text.indexOf('"', start);
    const end = quote === -1 ? text.length : quote;
    if (end - start >= fewestCharacters && mayLoseDigits.test(text.slice(start, end))) return true;
    start = endOfString(text, end + 1);
  }
  return false;
}

/** The position behind a string whose content begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text[first - 1] === "\\" && first > start) first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Parses a text; throws what `JSON.parse` throws. */
export function parseExactJson(text: string): unknown {
  if (!mayLoseDigits.test(text) || !hasLongNumber(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && losesDigits(value, source) ? json.rawJSON(source) : value,
  );
}

/** A deep copy; unlike `structuredClone`, which refuses raw JSON. */
export const exactCopy = (value: Json): Json => parseExactJson(JSON.stringify(value)) as Json;

/**
 * The place of a number that may not be what was written, such as `id` or `list[2]`: infinite, or, with `whole`, an
 * integer beyond 2^53 that was parsed as by `JSON.parse`.
 */
export function inexactNumber(value: unknown, whole: boolean, place = ""): string | undefined {
  if (typeof value === "number") {
    const isWrong = !Number.isFinite(value) || (whole && Number.isInteger(value) && !Number.isSafeInteger(value));
    return isWrong ? place : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, one] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${key}]` : place === "" ? key : `${place}.${key}`;
    const found = inexactNumber(one, whole, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function losesDigits(value: number, source: string): boolean {
  // A large integer that is exact would still be written with an exponent.
  if (/^-?\d+$/.test(source)) return !Number.isSafeInteger(value);
  return !Number.isFinite(value) || decimal(String(value)) !== decimal(source);
}

/**
 * A number as its digits without zeros around them, and the power of ten of the last one: `1.50` and `15e-1` are
 * `15e-1`.
 */
function decimal(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  // Numbers with such an exponent differ from every number of JavaScript.
  if (exponent.replace(/^[+-]?0*/, "").length > longestExponent) return number;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** The number as it was sent if JavaScript cannot represent it; `undefined` for other values. */
export function exactDigits(value: unknown): string | undefined {
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}
