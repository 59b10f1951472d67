/** A small platform over HTTP: one person writes to one bot. The bot polls for events and posts messages. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChannelPlatform, PlatformAbility } from "service-gateway/testkit";

/** An event as the platform sends it. */
export interface PostboxEvent {
  readonly id: number;
  readonly from: { readonly id: number; readonly name: string };
  readonly chat: number;
  readonly thread?: number;
  readonly text: string;
  /** Seconds. */
  readonly date: number;
}

const token = "postbox-secret-8841";
export const botId = 1;
export const abilities: readonly PlatformAbility[] = ["away", "cut", "hang", "limit", "refuse", "repeat", "unconfirmed"];

const seconds = 1_760_000_000;

async function bodyOf(request: IncomingMessage): Promise<{ readonly text: string; readonly thread?: number }> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text);
}

export async function openPostbox(): Promise<ChannelPlatform> {
  const events: PostboxEvent[] = [];
  const seen: { readonly text: string; readonly thread?: number }[] = [];
  let failure: "cut" | "hang" | "limit" | "refuse" | undefined;
  let repeated: PostboxEvent | undefined;

  const answer = (response: ServerResponse, status: number, body: object, headers = {}) =>
    void response.writeHead(status, { "content-type": "application/json", connection: "close", ...headers }).end(JSON.stringify(body));

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { text, thread } = await bodyOf(request);
    if (failure === "refuse") return answer(response, 403, { error: "blocked" });
    if (failure === "limit") {
      failure = undefined;
      return answer(response, 429, { error: "too many" }, { "retry-after": "2" });
    }
    if (failure === "hang") return;
    seen.push({ text, ...(thread === undefined ? {} : { thread }) });
    if (failure === "cut") {
      failure = undefined;
      response.destroy();
      return;
    }
    return answer(response, 200, { id: seen.length });
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://postbox");
    if (url.searchParams.get("token") !== token) return answer(response, 401, { error: "token" });
    if (request.method === "POST") return void post(request, response).catch(() => response.destroy());
    const again = repeated === undefined ? [] : [repeated];
    repeated = undefined;
    return answer(response, 200, [...again, ...events.filter(({ id }) => id > Number(url.searchParams.get("after")))]);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const closeServer = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return {
    options: { url: `http://127.0.0.1:${port}`, token },
    async write(text, { thread = false } = {}) {
      const id = events.length + 1;
      events.push({ id, from: { id: 7, name: "Ada" }, chat: 7, text, date: seconds + id, ...(thread && { thread: 3 }) });
    },
    read: ({ thread = false } = {}) => seen.filter((message) => (message.thread !== undefined) === thread).map(({ text }) => text),
    async fail(ability) {
      if (ability === "away") await closeServer();
      else if (ability === "repeat") repeated = events.at(-1);
      else failure = ability;
    },
    close: closeServer,
  };
}
