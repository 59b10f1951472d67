/** Parses JSON bodies: checks the declared type, UTF-8 and depth, and removes keys that could reach a prototype. */
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

/** The problem of a request whose declared body is not JSON in UTF-8, or `undefined`. A missing type is accepted as JSON. */
export function checkJsonType(headers: IncomingHttpHeaders): HttpProblem | undefined {
  return checkMediaType(headers, jsonTypes);
}

/** Parses a JSON body; an empty one becomes `{}`. Throws `HttpProblem` 400. `parse` must throw for invalid JSON. */
export function parseJson(body: Buffer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isUtf8(body)) throw new HttpProblem("invalid_json", "The body is not valid UTF-8.");
  const start = body.length >= 3 && body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  const text = body.toString("utf8", start);
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    if (text.trim() === "") return {};
    // The engine's own message quotes the body, which may contain secrets.
    throw new HttpProblem("invalid_json", "The body is not valid JSON.");
  }
  tame(value, 1);
  return value;
}

/**
 * Limits the depth and removes `__proto__`. `JSON.parse` makes it a harmless own property, but `Object.assign` in a plugin would turn it
 * into a prototype. `constructor` and `prototype` are kept: as own properties they replace nothing, and services do send fields with these
 * names.
 */
function tame(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  // Large integers are objects, too, but do not add a level.
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
