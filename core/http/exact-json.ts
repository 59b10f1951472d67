/**
 * JSON whose integers keep all digits. A number beyond 2^53 becomes raw JSON (`JSON.rawJSON`), which `JSON.stringify` writes unchanged.
 * Other values are parsed as by `JSON.parse`.
 */
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

/** The digits of a number that was too large to be exact; `undefined` for other values. */
export function exactDigits(value: unknown): string | undefined {
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}
