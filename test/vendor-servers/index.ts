/**
 * Small HTTP servers that speak the vendors' own protocols. They check path, headers and body as strictly as the
 * vendors do, and answer 400 with the reason otherwise. Each request takes the next answer of the script.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface Call {
  readonly name: string;
  /** A text is sent as it is. */
  readonly args: object | string;
}

export interface Content {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly Call[];
  /** The tokens of the cache: read and written. */
  readonly cache?: { readonly read: number; readonly written: number };
  /** A generated picture, in base64. */
  readonly picture?: string;
}

export type VendorAnswer =
  | ({ readonly kind: "say" } & Content)
  | { readonly kind: "refuse"; readonly status: number; readonly body: object; readonly headers?: object }
  /**
   * The answer without its end: the connection breaks, or the stream ends. `leave`: so many events are missing before
   * that, of which the first is sent by half.
   */
  | ({ readonly kind: "cut"; readonly how: "destroy" | "end"; readonly leave?: number } & Content)
  /** An error behind the content. */
  | ({ readonly kind: "fail"; readonly event: object } & Content);

export interface VendorRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: each vendor has its own form, which the tests look into.
  readonly body: any;
  /** The body as it was sent. */
  readonly raw: string;
}

export interface VendorProtocol {
  /** The path of a request, below the address. */
  readonly path: (model: string) => string;
  /** The header with the key. */
  readonly keyHeader: (key: string) => readonly [name: string, value: string | undefined];
  /** Why the vendor refuses the request; `undefined` if it does not. */
  refusal(request: VendorRequest): string | undefined;
  /** A body of an error. */
  error(status: number, message: string): object;
  /** The events of an answer: all of them, the last ones end it. */
  events(content: Content): { readonly begin: readonly object[]; readonly end: readonly object[] };
}

export interface VendorServer {
  readonly url: string;
  readonly requests: readonly VendorRequest[];
  script(...answers: readonly VendorAnswer[]): void;
  close(): Promise<void>;
}

export const say = (content: Content): VendorAnswer => ({ kind: "say", ...content });

function refuse(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Anthropic's events have names. */
function written(event: object): string {
  const { type } = event as { readonly type?: string };
  return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`;
}

export async function createVendorServer(
  protocol: VendorProtocol,
  { model, key }: { readonly model: string; readonly key: string },
): Promise<VendorServer> {
  const requests: VendorRequest[] = [];
  const answers: VendorAnswer[] = [];
  const [header, value] = protocol.keyHeader(key);

  async function answer(response: ServerResponse): Promise<void> {
    const next = answers.shift() ?? say({ text: "Hello." });
    if (next.kind === "refuse") return refuse(response, next.status, next.body, next.headers);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    const { begin, end } = protocol.events(next);
    const sent = next.kind === "cut" ? Math.max(0, begin.length - (next.leave ?? 0)) : begin.length;
    for (const event of begin.slice(0, sent)) response.write(written(event));
    const half = sent === 0 ? undefined : begin[sent];
    if (half !== undefined) response.write(written(half).slice(0, -20));
    if (next.kind === "say") for (const event of end) response.write(written(event));
    if (next.kind === "fail") response.write(written(next.event));
    await delay(next.kind === "say" ? 0 : 10);
    if (next.kind === "cut" && next.how === "destroy") response.destroy();
    else response.end();
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? "";
    if (request.method !== "POST" || path !== protocol.path(model))
      return refuse(response, 404, protocol.error(404, `no such path: ${request.method} ${path}`));
    const raw = Buffer.concat(chunks).toString();
    const asked = { path, headers: request.headers, body: JSON.parse(raw), raw };
    requests.push(asked);
    if (request.headers[header] !== value)
      return refuse(response, 401, protocol.error(401, `invalid key: ${request.headers[header] ?? "none"}`));
    const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
    const reason = isJson ? protocol.refusal(asked) : "the content type is not JSON";
    if (reason !== undefined) return refuse(response, 400, protocol.error(400, reason));
    await answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...more) => void answers.push(...more),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The first key of an object that is not among the known ones. */
export function unknownKey(object: object, known: readonly string[]): string | undefined {
  return Object.keys(object).find((key) => !known.includes(key));
}
