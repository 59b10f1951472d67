/** What a sender posts: JSON, a form, or text. The mapping says which; a declared type that is another one is answered 415. */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../contract/index.ts";
import { checkJsonType, checkMediaType, HttpProblem, parseExactJson, parseJson } from "../../http/index.ts";
import { invalid } from "../runs/fields.ts";

/** `text-json`: JSON that its sender declares as text. */
export type BodyKind = "json" | "form" | "text" | "text-json";

const maxFormFields = 1_000;
const types = {
  form: {
    usual: ["application/x-www-form-urlencoded"],
    accepts: /^application\/x-www-form-urlencoded$/i,
    expected: "application/x-www-form-urlencoded",
  },
  text: {
    usual: ["text/plain", "text/plain; charset=utf-8"],
    accepts: /^text\/[\w!#$&^.+-]+$/i,
    expected: "text/plain, or another type that begins with text/",
  },
} as const;

/** The problem of a request whose declared body is not of the kind, or not UTF-8. An absent type counts as the kind. */
export function checkBodyType(kind: BodyKind, headers: IncomingHttpHeaders): HttpProblem | undefined {
  if (kind === "text-json" && checkJsonType(headers) === undefined) return undefined;
  return kind === "json" ? checkJsonType(headers) : checkMediaType(headers, types[kind === "form" ? "form" : "text"]);
}

/** Throws `HttpProblem` 400, and 413 for a form of too many fields. */
export function parsePayload(kind: BodyKind, body: Buffer): Json {
  if (kind === "json" || kind === "text-json") return parseJson(body, parseExactJson) as Json;
  if (!isUtf8(body)) throw invalid("The body is not valid UTF-8.");
  const text = body.toString("utf8").replace(/^\uFEFF/, "");
  return kind === "form" ? parseForm(text) : text;
}

/** A body that `parsePayload` reads the payload from, with its Content-Type. `undefined`: the kind cannot hold it. */
export function renderPayload(kind: BodyKind, payload: Json): { readonly type: string; readonly body: Buffer } | undefined {
  if (kind === "json") return { type: "application/json", body: Buffer.from(JSON.stringify(payload)) };
  if (kind === "text-json") return { type: "text/plain; charset=utf-8", body: Buffer.from(JSON.stringify(payload)) };
  if (kind === "text") return typeof payload === "string" ? { type: "text/plain; charset=utf-8", body: Buffer.from(payload) } : undefined;
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  const fields = Object.entries(payload).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((text) => [name, text]));
  if (!fields.every((field): field is [string, string] => typeof field[1] === "string")) return undefined;
  return { type: "application/x-www-form-urlencoded", body: Buffer.from(new URLSearchParams(fields).toString()) };
}

/** Each name with its text; a name that comes more than once with the list of its texts. */
function parseForm(text: string): Json {
  checkFieldCount(text);
  const fields: Record<string, string | string[]> = {};
  // It takes one question mark away; a form may begin with one of its own.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    if (name === "__proto__") continue;
    const earlier = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (earlier === undefined) fields[name] = value;
    else if (typeof earlier === "string") fields[name] = [earlier, value];
    else earlier.push(value);
  }
  return fields;
}

// Counted before anything is taken apart: a body of separators alone must not cost what a form of as many fields costs.
function checkFieldCount(text: string): void {
  let count = 1;
  for (let index = text.indexOf("&"); index !== -1; index = text.indexOf("&", index + 1)) {
    count += 1;
    if (count > maxFormFields) throw new HttpProblem("payload_too_large", `The form has more than ${maxFormFields} fields.`);
  }
}
