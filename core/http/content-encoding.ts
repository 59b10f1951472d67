/** Unpacks compressed bodies. The limit applies to what is unpacked, and unpacking stops there. */
import type { IncomingHttpHeaders } from "node:http";
import { gunzip, type InputType, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import { reasonOf } from "../contract/index.ts";
import { HttpProblem } from "./problem.ts";

export type ContentCoding = "gzip" | "deflate";

const codings: ReadonlyMap<string, ContentCoding | "identity"> = new Map([
  ["", "identity"],
  ["identity", "identity"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
]);

const codingOf = ({ "content-encoding": value = "" }: IncomingHttpHeaders) => codings.get(value.trim().toLowerCase());

/** How the body is compressed; `undefined` if it is not, or in a form that `checkCoding` refuses. */
export function contentCoding(headers: IncomingHttpHeaders): ContentCoding | undefined {
  const coding = codingOf(headers);
  return coding === "identity" ? undefined : coding;
}

/** The problem of a body in another compression than gzip and deflate. */
export function checkCoding(headers: IncomingHttpHeaders): HttpProblem | undefined {
  if (headers["content-encoding"] === undefined || codingOf(headers) !== undefined) return undefined;
  return new HttpProblem("unsupported_media_type", "Content-Encoding must be gzip or deflate, or absent.");
}

/** The problem of a compressed body where none is accepted. */
export function checkUncompressed(headers: IncomingHttpHeaders): HttpProblem | undefined {
  if (headers["content-encoding"] === undefined || codingOf(headers) === "identity") return undefined;
  return new HttpProblem(
    "unsupported_media_type",
    "The body must not be compressed: send it without Content-Encoding.",
  );
}

type Unpack = (body: InputType, options: ZlibOptions, done: (error: Error | null, result: Buffer) => void) => void;

/** Unpacks a body outside the main thread. Rejects with `HttpProblem`. */
export function unpackBody(body: Buffer, coding: ContentCoding, limit: number): Promise<Buffer> {
  if (body.length === 0) return Promise.resolve(body);
  const unpack: Unpack = coding === "gzip" ? gunzip : isZlib(body) ? inflate : inflateRaw;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  unpack(body, { maxOutputLength: limit }, (error, result) => {
    if (error === null) resolve(result);
    else reject(problemOf(error, coding, limit));
  });
  return promise;
}

/** Some senders write deflate without the header that the standard requires. */
function isZlib(body: Buffer): boolean {
  return body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}

function problemOf(error: Error, coding: ContentCoding, limit: number): HttpProblem {
  if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
    return new HttpProblem("payload_too_large", `The unpacked body is larger than ${limit} bytes.`);
  return new HttpProblem("bad_request", `The body is not valid ${coding}: ${reasonOf(error)}.`);
}
