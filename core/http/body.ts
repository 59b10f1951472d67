/** Reads the declared type of a request body and its bytes. This code limits the size; the server's request timeout limits the time. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { HttpProblem } from "./problem.ts";

const empty = Buffer.alloc(0);

/**
 * Collects the body. Calls back once, with a problem or with the bytes. Never calls back if the client disconnects, because then no one
 * waits for an answer. Uses a callback for speed, because this runs for every request. The returned function stops reading, releases what
 * was read and prevents the callback.
 */
export function readBody(request: IncomingMessage, limit: number, done: (problem: HttpProblem | null, body: Buffer) => void): () => void {
  const declared = request.headers["content-length"];
  if (declared !== undefined && Number(declared) > limit) {
    done(tooLarge(limit), empty);
    return () => {};
  }
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let size = 0;
  const stop = (): void => {
    request.removeListener("data", onData);
    request.removeListener("end", onEnd);
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
  request.on("data", onData);
  request.on("end", onEnd);
  request.on("error", stop);
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

/** The problem of a request whose declared body is not what is expected, in UTF-8, or `undefined`. A missing type is accepted. */
export function checkMediaType(headers: IncomingHttpHeaders, { usual, accepts, expected }: MediaTypeRule): HttpProblem | undefined {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity" && encoding.trim() !== "") {
    return new HttpProblem("unsupported_media_type", "The body must not be compressed: send it without Content-Encoding.");
  }
  const type = headers["content-type"];
  if (type === undefined || usual.includes(type)) return undefined;
  const [media = "", ...parameters] = type.split(";");
  if (!accepts.test(media.trim())) return new HttpProblem("unsupported_media_type", `Content-Type must be ${expected}.`);
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
