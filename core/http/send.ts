import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { type HttpProblem, jsonType, renderProblem } from "./problem.ts";

/** A refused body up to this size is read to its end, so that the connection can be used again. */
const smallBody = 65_536;
/** Of a larger one this much is read before the connection is closed. */
const lingerBytes = 4_194_304;
const lingerMs = 3_000;

/** Whether the client may still be sending more than is worth reading. */
function bodyPending(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed) return false;
  if (request.headers["transfer-encoding"] !== undefined) return true;
  const length = request.headers["content-length"];
  return length !== undefined && Number(length) > smallBody;
}

/** Answers a problem as JSON. The client gets the answer even while it is still sending its body. */
export function sendProblem(reply: FastifyReply, problem: HttpProblem): void {
  const text = renderProblem(problem);
  if (bodyPending(reply.request.raw)) {
    sendAndLinger(reply, problem, text);
    return;
  }
  // A body parser that failed asks for the connection to be closed; nothing more is on its way here.
  reply.removeHeader("connection");
  reply.code(problem.status).header("content-type", jsonType);
  if (problem.headers !== undefined) reply.headers(problem.headers);
  reply.send(text);
}

/**
 * Closing a socket with unread bytes in it makes the kernel send a reset, which can destroy the answer on its way.
 * So the answer is written first, a bounded rest of the body is read and forgotten, and only then the connection ends.
 */
function sendAndLinger(reply: FastifyReply, problem: HttpProblem, text: string): void {
  const request = reply.request.raw;
  const response = reply.hijack().raw;
  let left = lingerBytes;
  let timer: NodeJS.Timeout | undefined;
  const finish = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    request.removeListener("data", forget);
    request.removeListener("end", finish);
    request.removeListener("close", finish);
    if (!response.writableEnded) response.end();
  };
  const forget = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left <= 0) finish();
  };
  timer = setTimeout(finish, lingerMs);
  // A client that goes away in the middle is not an error.
  request.on("error", finish);
  response.on("error", finish);
  request.on("end", finish);
  request.on("close", finish);
  response.writeHead(problem.status, {
    ...problem.headers,
    "content-type": jsonType,
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  if (request.method !== "HEAD") response.write(text);
  request.on("data", forget);
  request.resume();
}
