/** The fake server over Streamable HTTP, with sessions, and what clients sent to it. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createFakeServer, type Message } from "./fake-server.ts";

export interface FakeHttpServer {
  readonly url: string;
  readonly noted: readonly string[];
  /** The values of the header `authorization` that arrived. */
  readonly keys: readonly (string | undefined)[];
  /** How often it was greeted. */
  greetings(): number;
  /** Forgets its sessions, as a restart does. */
  forget(): void;
  /** Answers every request like this instead. */
  instead?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** `forgotten`: how it answers a session that it does not know; `$ID` is the id of the request. */
export async function serveHttp({ forgotten = { status: 404, body: "" } } = {}): Promise<FakeHttpServer> {
  const noted: string[] = [];
  const keys: (string | undefined)[] = [];
  const sessions = new Set<string>();
  let greeted = 0;
  const handle = createFakeServer({ note: (what) => noted.push(what), describe: () => "Says it again." });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    keys.push(request.headers.authorization);
    if (fake.instead !== undefined) return fake.instead(request, response);
    const end = (status: number, body?: object, headers: Record<string, string> = {}) =>
      void response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(body && JSON.stringify(body));
    if (request.method !== "POST") return end(405);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    const session = request.headers["mcp-session-id"];
    const isFirst = message.method === "initialize";
    if (!isFirst && message.method !== "server/discover" && !sessions.has(String(session)))
      return void response.writeHead(forgotten.status).end(forgotten.body.replaceAll("$ID", String(message.id)));
    const result = await handle(message);
    if (result === undefined) return end(202);
    const opened = randomUUID();
    if (isFirst) {
      sessions.add(opened);
      greeted += 1;
    }
    return end(200, result, isFirst ? { "mcp-session-id": opened } : {});
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const fake: FakeHttpServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    noted,
    keys,
    greetings: () => greeted,
    forget: () => sessions.clear(),
  };
  return fake;
}
