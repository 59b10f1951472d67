/** Reads request bodies. This code limits the size; the server's request timeout limits the time. */
import type { IncomingMessage, ServerResponse } from "node:http";
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
