/** Reads a request's body up to a size limit. */
import type { IncomingMessage } from "node:http";
import { asBytes, onEvent, onMessage } from "service-gateway/sdk/channel";

export class BodyTooLarge extends Error {}

const empty = Buffer.alloc(0);

export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === "0")) return Promise.resolve(empty);
  if (Number(length) > limit) {
    request.resume();
    return Promise.reject(new BodyTooLarge());
  }
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const source = "a client of the playground";
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) {
        chunks = [];
        reject(new BodyTooLarge());
      } else chunks.push(chunk);
    };
    onMessage(request, "data", { source, check: asBytes, handle: take });
    onEvent(request, "end", {
      source,
      handle: () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    });
    onEvent(request, "error", { source, handle: reject });
    // A client that disconnects while sending its body is not an error.
    onEvent(request, "close", { source, handle: () => request.complete || reject(new Error("the client left")) });
  });
}
