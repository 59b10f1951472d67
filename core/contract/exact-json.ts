/**
 * JSON whose integers keep all digits. A number beyond 2^53 becomes raw JSON (`JSON.rawJSON`), which `JSON.stringify` writes unchanged.
 * Other values are parsed as by `JSON.parse`.
 */
import type { Json } from "./types.ts";

interface RawJson {
  readonly rawJSON: string;
}

interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

/** The type definitions lack these functions, but every supported Node version has them. */
const json = JSON as unknown as ExactJson;

/** Parses a text; throws what `JSON.parse` throws. Nearly all texts have no long run of digits and take the fast path. */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? json.rawJSON(source)
      : value,
  );
}

/** A deep copy; unlike `structuredClone`, which refuses raw JSON. */
export const exactCopy = (value: Json): Json => parseExactJson(JSON.stringify(value)) as Json;

/**
 * The place of a number that may not be what was written, such as `id` or `list[2]`: infinite, or, with `whole`, an integer beyond 2^53 that
 * was parsed as by `JSON.parse`.
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

/** The digits of a number that was too large to be exact; `undefined` for other values. */
export function exactDigits(value: unknown): string | undefined {
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}
