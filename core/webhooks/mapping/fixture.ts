/** A delivery as a file, which `hooks record` writes and `hooks test` and `transforms test` read. */
import { HostError, type Json } from "../../contract/index.ts";
import { exactDigits, parseExactJson } from "../../http/index.ts";
import { trimSlashes } from "./address.ts";
import { type HookDelivery, sourceOf } from "./webhook-delivery.ts";

/** The key that distinguishes such a file from a bare payload. Its value is the version of the format. */
const mark = "$delivery";

export interface Fixture {
  readonly [mark]: 1;
  readonly path: string;
  /** Absent: POST. */
  readonly method?: "GET";
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly payload: Json;
}

/** Maximum depth, the same as in the hook server. */
const maxDepth = 64;

/**
 * Reads a delivery: `{ "$delivery": 1, path, method, headers, query, payload }`, where all but the mark are optional,
 * or a bare payload. Throws `fixture_invalid`, which names the file.
 */
export function readFixture(
  text: string,
  from: {
    readonly file: string;
    /** The path to use if the file contains none. */
    readonly path: string;
    /** ISO 8601. */
    readonly now: string;
  },
): HookDelivery {
  const refuse = (reason: string): never => {
    throw new HostError("fixture_invalid", { file: from.file, reason });
  };
  const value = parse(text, refuse);
  const fixture = isObject(value) && Object.hasOwn(value, mark) ? value : { [mark]: 1, payload: value };
  if (fixture[mark] !== 1) refuse(`${mark} must be 1`);
  const unknown = Object.keys(fixture).find(
    (key) => ![mark, "path", "method", "headers", "query", "payload"].includes(key),
  );
  if (unknown !== undefined) refuse(`the key ${JSON.stringify(unknown)} is not known beside ${mark}`);
  const { path = from.path, method = "POST", headers = {}, query = {}, payload = {} } = fixture;
  if (typeof path !== "string") return refuse("path must be a text");
  if (method !== "POST" && method !== "GET") return refuse("method must be POST or GET");
  return Object.freeze({
    path: trimSlashes(path),
    source: sourceOf(payload),
    headers: textsOf(headers, (name) => name.toLowerCase()) ?? refuse("headers must be an object of texts"),
    query: textsOf(query) ?? refuse("query must be an object of texts"),
    payload,
    now: from.now,
    ...(method === "GET" ? { method } : {}),
  });
}

/** Converts a delivery to the content of such a file. */
export function fixtureOf({ path, method, headers, query, payload }: HookDelivery): Fixture {
  return { [mark]: 1, path, ...(method && { method }), headers, query, payload };
}

function parse(text: string, refuse: (reason: string) => never): Json {
  let value: Json;
  try {
    value = parseExactJson(text.replace(/^\uFEFF/, "")) as Json;
  } catch {
    return refuse("it is not valid JSON");
  }
  if (isDeeper(value, maxDepth)) return refuse(`it is nested deeper than ${maxDepth} levels`);
  removePrototypes(value);
  return value;
}

function isDeeper(value: Json, left: number): boolean {
  if (typeof value !== "object" || value === null || exactDigits(value) !== undefined) return false;
  return left === 0 || Object.values(value).some((inner) => isDeeper(inner, left - 1));
}

function removePrototypes(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  for (const inner of Object.values(value)) removePrototypes(inner);
}

type JsonObject = { readonly [key: string]: Json };

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The texts in an object without a prototype, like those of the hook server; `undefined` if it contains other values.
 */
function textsOf(
  value: Json,
  nameOf: (name: string) => string = (name) => name,
): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  const texts: Record<string, string> = Object.create(null);
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string") return undefined;
    texts[nameOf(name)] = text;
  }
  return Object.freeze(texts);
}
