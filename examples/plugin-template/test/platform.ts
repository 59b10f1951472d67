/** A platform for tests and `npm run dev`, with one person in it: it answers over HTTP as the real one does. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { ChannelPlatform } from "service-gateway/testkit";
import type { Event } from "../src/api.ts";

type Failure = Parameters<NonNullable<ChannelPlatform["fail"]>>[0];

const chat = "c1";

/** `onMessage`: called for each message of the bot. */
export async function openPlatform(onMessage: (text: string) => void = () => {}): Promise<ChannelPlatform> {
  const events: Event[] = [];
  const seen: string[] = [];
  let nextId = 1;
  let failure: Failure | undefined;
  /** Events that are delivered once more, confirmed or not. */
  let repeated: readonly Event[] = [];
  /** Requests that wait for an event. */
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const answer of waiting) answer();
    waiting = [];
  };

  function takeMessage({ chat: to, text }: Pick<Event, "chat" | "text">, response: ServerResponse): void {
    if (failure === "hang") return;
    if (to !== chat) answer(response, 404, {});
    else if (failure === "refuse") answer(response, 403, {});
    else if (failure === "limit") {
      failure = undefined;
      answer(response, 429, {}, { "retry-after": "2" });
    } else {
      nextId += 1;
      seen.push(text);
      onMessage(text);
      if (failure === "cut") response.destroy();
      else answer(response, 200, { id: nextId });
    }
  }

  function giveEvents(after: number, response: ServerResponse): void {
    const give = () => {
      const due = [...repeated, ...events.filter(({ id }) => id > after)];
      repeated = [];
      answer(response, 200, due);
    };
    if (repeated.length > 0 || events.some(({ id }) => id > after)) give();
    else waiting.push(give);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (failure === "silent") return;
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://platform");
    if (pathname === "/me") answer(response, 200, { id: "bot", name: "bot" });
    else if (pathname === "/events") giveEvents(Number(searchParams.get("after")), response);
    else if (pathname === "/messages") takeMessage((await json(request)) as Pick<Event, "chat" | "text">, response);
    else answer(response, 404, {});
  }

  // Connections are not kept, so that a test that waits for the last one to close need not wait long.
  const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const listen = async (port: number) => void (await once(server.listen(port, "127.0.0.1"), "listening"));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };

  let lastMessage = 0;
  const happen = (event: Pick<Event, "text" | "edits" | "deletes">) => {
    nextId += 1;
    events.push({ id: nextId, chat, from: "u1", name: "Ada", at: 1_760_000_000_000, ...event });
    wake();
  };

  return {
    options: { server: `http://127.0.0.1:${port}` },
    async write(text) {
      happen({ text });
      lastMessage = nextId;
    },
    edit: async (text) => happen({ text, edits: lastMessage }),
    delete: async () => happen({ text: "", deletes: lastMessage }),
    read: () => seen,
    async fail(ability) {
      if (ability === "repeat") {
        repeated = events.slice(-1);
        wake();
      } else failure = ability;
      if (ability === "away") stop();
      if (ability === "back") await listen(port);
      if (ability === "reset") server.closeAllConnections();
    },
    close: async () => stop(),
  };
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
