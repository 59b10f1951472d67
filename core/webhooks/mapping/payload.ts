/**
 * Parses the body of a request as JSON, form or text. The mapping sets the kind; a request that declares another type
 * is answered with 415.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../contract/index.ts";
import { checkJsonType, checkMediaType, HttpProblem, parseExactJson, parseJson } from "../../http/index.ts";
import { invalid } from "../runs/fields.ts";
import { collectFields, decodeForm, maxFormFields } from "./form-text.ts";

/** `text-json` is JSON that the sender declares as text. */
export type BodyKind = "json" | "form" | "text" | "text-json";

const types = {
  form: {
    usual: ["application/x-www-form-urlencoded"],
    accepts: /^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/i,
    expected: "application/x-www-form-urlencoded or multipart/form-data",
  },
  text: {
    usual: ["text/plain", "text/plain; charset=utf-8"],
    accepts: /^(?:text\/[\w!#$&^.+-]+|application\/(?:xml|x-ndjson)|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+xml)$/i,
    expected: "text/plain, another type that begins with text/, XML, or application/x-ndjson",
  },
} as const;

/**
 * The problem of a request whose declared body has another kind or is not UTF-8, or `undefined`. A missing type is
 * accepted.
 */
export function checkBodyType(kind: BodyKind, headers: IncomingHttpHeaders): HttpProblem | undefined {
  if (kind === "text-json" && checkJsonType(headers) === undefined) return undefined;
  return kind === "json" ? checkJsonType(headers) : checkMediaType(headers, types[kind === "form" ? "form" : "text"]);
}

/** Parses a body. Throws `HttpProblem` 400, or 413 for a form with too many fields. */
export function parsePayload(kind: BodyKind, body: Buffer): Json {
  if (kind === "json" || kind === "text-json") return parseJson(body, parseExactJson) as Json;
  if (!isUtf8(body)) throw invalid("The body is not valid UTF-8.");
  const text = body.toString("utf8").replace(/^\uFEFF/, "");
  return kind === "form" ? parseForm(text) : text;
}

/**
 * Renders a payload to a body that `parsePayload` accepts, with its Content-Type. `undefined` if the kind cannot
 * represent the payload.
 */
export function renderPayload(
  kind: BodyKind,
  payload: Json,
): { readonly type: string; readonly body: Buffer } | undefined {
  if (kind === "json") return { type: "application/json", body: Buffer.from(JSON.stringify(payload)) };
  if (kind === "text-json") return { type: "text/plain; charset=utf-8", body: Buffer.from(JSON.stringify(payload)) };
  if (kind === "text")
    return typeof payload === "string" ? { type: "text/plain; charset=utf-8", body: Buffer.from(payload) } : undefined;
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  const fields = Object.entries(payload).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((text) => [name, text]),
  );
  if (!fields.every((field): field is [string, string] => typeof field[1] === "string")) return undefined;
  return { type: "application/x-www-form-urlencoded", body: Buffer.from(new URLSearchParams(fields).toString()) };
}

function parseForm(text: string): Json {
  checkFieldCount(text);
  return collectFields(decodeForm(text));
}

// Fields are counted before parsing, so that a body of mere separators costs less than a form with that many fields.
function checkFieldCount(text: string): void {
  let count = 1;
  for (let index = text.indexOf("&"); index !== -1; index = text.indexOf("&", index + 1)) {
    count += 1;
    if (count > maxFormFields)
      throw new HttpProblem("payload_too_large", `The form has more than ${maxFormFields} fields.`);
  }
}
