import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { asBytes, onEvent, onMessage } from "../listeners/index.ts";
import { type HttpProblem, jsonType, renderProblem } from "./problem.ts";

/** A rejected body up to this size is read completely, so that the connection can be reused. */
const smallBody = 65_536;
/** Of a larger body, this much is read before the connection is closed. */
const lingerBytes = 4_194_304;
const lingerMs = 3_000;

/** Whether the client may still be sending a body that is too large to read completely. */
function bodyPending(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed) return false;
  if (request.headers["transfer-encoding"] !== undefined) return true;
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) > smallBody;
}

/** Sends a problem as JSON. The client receives it even while it is still sending its body. */
export function sendProblem(reply: FastifyReply, problem: HttpProblem): void {
  const text = renderProblem(problem);
  if (bodyPending(reply.request.raw)) {
    sendAndLinger(reply, problem, text);
    return;
  }
  // After a failed body parser, fastify closes the connection. Here no more data is expected, so it stays open.
  reply.removeHeader("connection");
  reply.code(problem.status).header("content-type", jsonType);
  if (problem.headers !== undefined) reply.headers(problem.headers);
  reply.send(text);
}

/**
 * If a socket is closed with unread data, the kernel sends a reset, which can destroy the response in transit. The
 * response is therefore written first, then a bounded part of the body is read and discarded, and only then the
 * connection is closed.
 */
function sendAndLinger(reply: FastifyReply, problem: HttpProblem, text: string): void {
  const request = reply.request.raw;
  const response = reply.hijack().raw;
  let left = lingerBytes;
  const source = "a client";
  const stops: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const finish = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    for (const stop of stops) stop();
    if (!response.writableEnded) response.end();
  };
  const forget = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left <= 0) finish();
  };
  timer = setTimeout(finish, lingerMs);
  // A client that disconnects meanwhile is not an error.
  onEvent(request, "error", { source, handle: finish });
  onEvent(response, "error", { source, handle: finish });
  stops.push(
    onEvent(request, "end", { source, handle: finish }),
    onEvent(request, "close", { source, handle: finish }),
  );
  response.writeHead(problem.status, {
    ...problem.headers,
    "content-type": jsonType,
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  if (request.method !== "HEAD") response.write(text);
  stops.push(onMessage(request, "data", { source, check: asBytes, handle: forget }));
  request.resume();
}
