/** Reads the fields of forms: percent-encoded, or the bytes of a part. */
import { isUtf8 } from "node:buffer";
import type { Json } from "../../contract/index.ts";

/** Of a form of either kind. */
export const maxFormFields = 1_000;

/**
 * Older forms and payment services send this encoding without naming it, and every sequence of bytes has a reading in
 * it.
 */
const older = new TextDecoder("windows-1252");

/** Bytes that are not UTF-8 are read as windows-1252. */
export function decodeFormBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString("utf8") : older.decode(bytes);
}

/** Decodes `a=1&b=%C3%A9` to names and values, in order. */
export function decodeForm(text: string): Iterable<readonly [name: string, value: string]> {
  // URLSearchParams removes one leading question mark, which may belong to the form, so one is added.
  if (!/%[89a-f]/i.test(text)) return new URLSearchParams(`?${text}`);
  return text.split("&").flatMap((field) => {
    if (field === "") return [];
    const end = field.indexOf("=");
    const name = end === -1 ? field : field.slice(0, end);
    return [[decodeText(name), end === -1 ? "" : decodeText(field.slice(end + 1))] as const];
  });
}

function decodeText(text: string): string {
  const spaced = text.replaceAll("+", " ");
  if (!/%[89a-f]/i.test(spaced)) return spaced.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent);
  const latin1 = Buffer.from(spaced, "utf8").toString("latin1");
  const bytes = latin1.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return decodeFormBytes(Buffer.from(bytes, "latin1"));
}

/** Collects fields to an object. A name that occurs more than once gets the list of its values. */
export function collectFields(fields: Iterable<readonly [name: string, value: Json]>): Json {
  const lists = new Map<string, Json[]>();
  for (const [name, value] of fields) {
    const earlier = lists.get(name);
    if (earlier !== undefined) earlier.push(value);
    else if (name !== "__proto__") lists.set(name, [value]);
  }
  return Object.fromEntries(
    [...lists].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
  );
}
