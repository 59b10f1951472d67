/** What the services of the stand-in for Google share: requests, answers, and errors in Google's form. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An answer that a service gives by throwing it. */
export class Refusal extends Error {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`answered ${reply.status}`);
    this.reply = reply;
  }
}

/** An error of an API. `reason` is that of `details`, or with `old` that of `errors`, as Gmail gives it. */
export function refuse(
  status: number,
  code: string,
  {
    reason,
    metadata = {},
    headers = {},
  }: { reason?: string; metadata?: Record<string, string>; headers?: Record<string, string> } = {},
): never {
  const details =
    reason === undefined ? [] : [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, metadata }];
  const errors = reason === undefined ? [] : [{ reason, domain: "global" }];
  throw new Refusal({
    status,
    headers,
    body: { error: { code: status, status: code, message: "It was refused.", errors, details } },
  });
}

/** Only the names that the documents have. */
export function allowOnly(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys())
    if (!names.includes(name)) refuse(400, "INVALID_ARGUMENT", { reason: "invalidArgument" });
}

export function readJson(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return refuse(400, "INVALID_ARGUMENT");
  }
}

export async function readCall(request: IncomingMessage, signal: AbortSignal): Promise<Call> {
  const url = new URL(request.url ?? "/", "http://google.test");
  let body = "";
  for await (const piece of request) body += piece;
  return {
    method: request.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
    signal,
  };
}

export function write(response: ServerResponse, { status = 200, headers = {}, body = {} }: Reply): void {
  response.writeHead(status, { "content-type": "application/json; charset=UTF-8", ...headers });
  response.end(JSON.stringify(body));
}
