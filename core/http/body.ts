/**
 * Request bodies: their declared type, their bytes, and the JSON in them, without keys that could reach a prototype.
 * This code limits the size; the server's request timeout limits the time.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { exactDigits } from "../contract/index.ts";
import { asBytes, onEvent, onMessage } from "../listeners/index.ts";
import { HttpProblem } from "./problem.ts";

const empty = Buffer.alloc(0);
const maxDepth = 64;

/**
 * Collects the body. Calls back once, with a problem or with the bytes. Never calls back if the client disconnects,
 * because then no one waits for an answer. Uses a callback for speed, because this runs for every request. The returned
 * function stops reading, releases what was read and prevents the callback.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (problem: HttpProblem | null, body: Buffer) => void,
): () => void {
  const declared = request.headers["content-length"];
  if (declared !== undefined && Number(declared) > limit) {
    done(tooLarge(limit), empty);
    return () => {};
  }
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;
  const stop = (): void => {
    for (const unlisten of listening) unlisten();
    first = undefined;
    rest = undefined;
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) {
      stop();
      done(tooLarge(limit), empty);
    } else if (first === undefined) {
      first = chunk;
    } else if (rest === undefined) {
      rest = [first, chunk];
    } else {
      rest.push(chunk);
    }
  };
  const onEnd = (): void => {
    const body = rest === undefined ? (first ?? empty) : Buffer.concat(rest, size);
    stop();
    done(null, body);
  };
  const source = "a client";
  const listening = [
    onMessage(request, "data", { source, check: asBytes, handle: onData }),
    onEvent(request, "end", { source, handle: onEnd }),
  ];
  onEvent(request, "error", { source, handle: stop });
  return stop;
}

/** The server leaves `Expect: 100-continue` to its routes, so that a rejected client never sends its body. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (/(?:^|,)\s*100-continue\s*(?:,|$)/i.test(request.headers.expect ?? "")) response.writeContinue();
}

function tooLarge(limit: number): HttpProblem {
  return new HttpProblem("payload_too_large", `The body is larger than ${limit} bytes.`);
}

interface MediaTypeRule {
  /** The type that nearly every client sends, which needs no closer look. */
  readonly usual: readonly string[];
  readonly accepts: RegExp;
  /** For people: the end of the sentence "Content-Type must be ...". */
  readonly expected: string;
}

/**
 * The problem of a request whose declared body is not what is expected, in UTF-8, or `undefined`. A missing type is
 * accepted.
 */
export function checkMediaType(
  headers: IncomingHttpHeaders,
  { usual, accepts, expected }: MediaTypeRule,
): HttpProblem | undefined {
  const type = headers["content-type"];
  if (type === undefined || usual.includes(type)) return undefined;
  const [media = "", ...parameters] = type.split(";");
  if (!accepts.test(media.trim()))
    return new HttpProblem("unsupported_media_type", `Content-Type must be ${expected}.`);
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.trim().replaceAll('"', "").toLowerCase();
    if (charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
      return new HttpProblem("unsupported_media_type", "The charset of the body must be UTF-8.");
    }
  }
  return undefined;
}

const jsonTypes = {
  usual: ["application/json", "application/json; charset=utf-8"],
  accepts: /^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)$/i,
  expected: "application/json, or another type that ends in +json",
};

/**
 * The problem of a request whose declared body is not JSON in UTF-8, or `undefined`. A missing type is accepted as
 * JSON.
 */
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
 * Limits the depth and removes `__proto__`. `JSON.parse` makes it a harmless own property, but `Object.assign` in a
 * plugin would turn it into a prototype. `constructor` and `prototype` are kept: as own properties they replace
 * nothing, and services do send fields with these names.
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
