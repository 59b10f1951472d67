/**
 * JSON whose whole numbers keep their digits. A number beyond 2^53 becomes the engine's own raw JSON (`JSON.rawJSON`), which
 * `JSON.stringify` writes as it was read; every other value is what `JSON.parse` makes of it.
 */
interface RawJson {
  readonly rawJSON: string;
}

interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

/** The type definitions do not have these yet; every Node that the gateway runs on does. */
const json = JSON as unknown as ExactJson;

/** Throws what `JSON.parse` throws. Texts without a long run of digits, which are nearly all, are parsed as usual. */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? json.rawJSON(source)
      : value,
  );
}

/** The digits of a number that was too large for a number. */
export function exactDigits(value: unknown): string | undefined {
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}
