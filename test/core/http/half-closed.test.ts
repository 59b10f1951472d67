/** Clients that close their sending side as soon as their request is out, as `nc -N` and some embedded senders do. */
import { afterEach, expect, test } from "vitest";
import { createResults } from "../../../core/webhooks/endpoint/results.ts";
import { type HookServer, hookToken, openSocket, startHooks, startServer, type TestServer } from "./fixture.ts";

let running: HookServer | TestServer | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

const head = (path: string, length: number, more = ""): string =>
  `POST /hooks/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hookToken}\r\nContent-Type: ` +
  `application/json\r\n${more}Content-Length: ${length}\r\n\r\n`;
const wake = '{"text":"up"}';

/** Sends, closes the sending side, and resolves with everything that comes back. */
async function half(port: number, text: string): Promise<string> {
  const { socket, ended } = await openSocket(port);
  socket.end(text);
  return (await ended()).text;
}

test("a half-closed request is answered, and then the connection ends", async () => {
  running = await startHooks();
  expect(await half(running.port, head("wake", wake.length) + wake)).toMatch(
    /^HTTP\/1\.1 200 .*"eventId":"event-1"\}$/s,
  );
  const two = head("wake", wake.length) + wake;
  expect((await half(running.port, two + two)).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
});

test("a slow response is awaited on a half-closed connection", async () => {
  running = await startServer({}, (server) =>
    server.manage({
      method: "GET",
      path: "/gateway/slow",
      access: "public",
      handler: () => new Promise((resolve) => setTimeout(() => resolve({ body: { done: true } }), 150)),
    }),
  );
  expect(await half(running.port, "GET /gateway/slow HTTP/1.1\r\nHost: localhost\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 200 .*\{"done":true\}$/s,
  );
});

test("an incomplete body is not an event, and the connection ends", async () => {
  const hooks = await startHooks();
  running = hooks;
  expect(await half(hooks.port, `${head("wake", wake.length + 1)}${wake}`)).not.toContain("200");
  expect(await half(hooks.port, "POST /hooks/wake HTTP/1.1\r\n")).not.toContain("200");
  expect(await half(hooks.port, "")).toBe("");
  expect(hooks.events).toHaveLength(0);
});

test("a half-closed client that prefers to wait gets its response at once, because it may be gone", async () => {
  running = await startHooks({
    deps: { results: createResults({ store: { event: async () => null }, exposeReplies: () => false }) },
  });
  const body = '{"message":"x","deliver":false}';
  const began = performance.now();
  expect(await half(running.port, head("agent", body.length, "Prefer: wait=30\r\n") + body)).toMatch(
    /^HTTP\/1\.1 202 /,
  );
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a half-closed client of an event stream is treated as gone", async () => {
  const left = Promise.withResolvers<void>();
  running = await startServer({}, (server) =>
    server.manage({
      method: "GET",
      path: "/gateway/stream",
      access: "public",
      handler: () => ({
        events: {
          [Symbol.asyncIterator]: () => ({
            next: () => new Promise<IteratorResult<object>>(() => {}),
            async return() {
              left.resolve();
              return { done: true, value: undefined };
            },
          }),
        } as AsyncIterable<never>,
      }),
    }),
  );
  const { socket, write, until } = await openSocket(running.port);
  write("GET /gateway/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await until(/event-stream/);
  socket.end();
  await left.promise;
});
