/** JSON bodies: declared types, UTF-8, depth, and keys that could reach a prototype. */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { checkMediaType } from "./body.ts";
import { exactDigits } from "./exact-json.ts";
import { HttpProblem } from "./problem.ts";

const maxDepth = 64;
const jsonTypes = {
  usual: ["application/json", "application/json; charset=utf-8"],
  accepts: /^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)$/i,
  expected: "application/json, or another type that ends in +json",
};

/** The problem of a request whose declared body is not JSON in UTF-8, or `undefined`. An absent type counts as JSON. */
export function checkJsonType(headers: IncomingHttpHeaders): HttpProblem | undefined {
  return checkMediaType(headers, jsonTypes);
}

/** Parses a JSON body; an empty one is `{}`. Throws `HttpProblem` 400. `parse`: throws for what is not JSON. */
export function parseJson(body: Buffer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isUtf8(body)) throw new HttpProblem("invalid_json", "The body is not valid UTF-8.");
  const start = body.length >= 3 && body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  const text = body.toString("utf8", start);
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    if (text.trim() === "") return {};
    // The engine's own message quotes the body, which may hold what must not be shown.
    throw new HttpProblem("invalid_json", "The body is not valid JSON.");
  }
  tame(value, 1);
  return value;
}

/**
 * Bounds the depth, and removes `__proto__`: `JSON.parse` makes it a harmless own property, but the first
 * `Object.assign` of a plugin would turn it into a prototype. `constructor` and `prototype` stay: as own properties
 * they replace nothing, and services do send fields of that name.
 */
function tame(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  // A large number is an object, too, and no level.
  if (depth > maxDepth && exactDigits(value) !== undefined) return;
  if (depth > maxDepth) throw new HttpProblem("invalid_json", `The body is nested deeper than ${maxDepth} levels.`);
  if (Array.isArray(value)) {
    for (const item of value) tame(item, depth + 1);
    return;
  }
  const record = value as Record<string, unknown>;
  for (const key in record) {
    if (key === "__proto__") delete record[key];
    else tame(record[key], depth + 1);
  }
}
