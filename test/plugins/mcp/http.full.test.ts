/** MCP servers over HTTP: sessions, keys, redirects and calls that are given up. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { fetchFor } from "../../../plugins/mcp/address.ts";
import { serveHttp } from "./http-server.ts";
import { openRoom, program, until } from "./room.ts";

const keyed = (url: string) => ({ url, approve: "never", headers: { Authorization: { env: "MCP_KEY" } } });
const environment = { MCP_KEY: "Bearer key-of-the-server" };

interface Views {
  readonly servers: readonly { readonly state: string; readonly reason: string; readonly fix: string }[];
}

test("tools over HTTP work with the configured key beside those of a program; lost sessions reopen", async () => {
  const server = await serveHttp();
  const room = await openRoom({ web: keyed(server.url), files: program() }, { environment });
  expect(await room.ask("names")).toMatch(/^send attach buttons files__echo .* web__echo web__get-env /);
  expect(await room.ask('web__echo {"message":"hi"}')).toContain("Echo: hi");
  expect(new Set(server.keys)).toEqual(new Set(["Bearer key-of-the-server"]));
  server.forget();
  expect(await room.ask('web__echo {"message":"again"}')).toContain("Echo: again");
});

test("an abandoned call is cancelled on the server", async () => {
  const server = await serveHttp();
  const room = await openRoom({ web: { url: server.url, approve: "never" } });
  const call = room.ask("web__wait");
  await until(() => server.noted.some((line) => line.startsWith("wait ")));
  await room.ask("/stop");
  await call;
  await until(() => server.noted.some((line) => line.startsWith("cancelled ")));
});

test("a server error that repeats the key is shown without it", async () => {
  const server = await serveHttp();
  server.instead = async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { id?: number };
    const error = { code: -32_000, message: "key-of-the-server is not a key" };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  };
  const room = await openRoom({ web: keyed(server.url) }, { environment });
  await room.ask("names");
  const { servers } = (await room.route("GET", "servers")) as unknown as Views;
  expect(servers[0]?.reason).toBe("the greeting failed: *** is not a key");
});

test("an event stream can be longer than the longest response", async () => {
  const event = Buffer.concat([Buffer.from("data: "), Buffer.alloc(4 * 1_024 * 1_024, "x"), Buffer.from("\n\n")]);
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-type": request.url === "/events" ? "text/event-stream" : "text/plain" });
    for (let count = 9; count > 0; count -= 1) response.write(event);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const get = fetchFor({ kind: "sse", url, headers: {} });
  const length = async (path: string) => (await (await get(`${url}${path}`)).arrayBuffer()).byteLength;
  expect(await length("/events")).toBe(9 * event.length);
  await expect(length("/answer")).rejects.toThrow("more than 32 MB");
});

test("a redirect is refused, so the key reaches no other server", async () => {
  const keys: unknown[] = [];
  const other = createServer((request, response) => {
    keys.push(request.headers.authorization);
    response.end();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const server = await serveHttp();
  server.instead = (_, response) => void response.writeHead(307, { location: `http://127.0.0.1:${port}/mcp` }).end();
  const room = await openRoom({ web: keyed(server.url) }, { environment });
  await room.ask("names");
  const { servers } = (await room.route("GET", "servers")) as unknown as Views;
  expect(servers[0]?.reason).toMatch(/^127\.0\.0\.1:\d+ redirects to another address, which is refused$/);
  expect(keys).toEqual([]);
});

test.each([
  [401, /refuses the credentials \(401\)/, /Authorization/],
  [404, /does not know the address/, /\/mcp/],
])("a server that responds with %d gets a remedy in doctor", async (status, reason, fix) => {
  const server = await serveHttp();
  server.instead = (_, response) => void response.writeHead(status).end("no key-of-the-server");
  const room = await openRoom({ web: keyed(server.url) }, { environment });
  await room.ask("names");
  const { servers } = (await room.route("GET", "servers")) as unknown as Views;
  expect(servers[0]).toMatchObject({
    state: "waiting",
    reason: expect.stringMatching(reason),
    fix: expect.stringMatching(fix),
  });
  expect(JSON.stringify(servers)).not.toContain("key-of-the-server");
});

test("an unreachable server is retried without limit and is used again once it is back", async () => {
  const server = await serveHttp();
  server.instead = (_, response) => void response.writeHead(503).end();
  const room = await openRoom({ web: { url: server.url, approve: "never" } });
  for (let tries = 0; tries < 7; tries += 1) {
    await until(async () => ((await room.route("GET", "servers")) as unknown as Views).servers[0]?.state === "waiting");
    await room.host.advance(60_000);
  }
  delete server.instead;
  await room.host.advance(60_000);
  await until(async () => ((await room.route("GET", "servers")) as unknown as Views).servers[0]?.state === "ready");
  expect(await room.ask('web__echo {"message":"back"}')).toContain("Echo: back");
});

test("an endless response ends the call, not the gateway", async () => {
  const server = await serveHttp();
  const room = await openRoom({ web: { url: server.url, approve: "never" } });
  await room.ask("names");
  server.instead = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(1_024 * 1_024, " ");
    const write = () => void response.write(chunk, () => response.destroyed || setImmediate(write));
    write();
  };
  expect(JSON.parse(await room.ask("web__echo"))).toMatchObject({ ok: false, code: "mcp_outcome_unknown" });
  const { servers } = (await room.route("GET", "servers")) as unknown as Views;
  expect(servers[0]?.reason).toMatch(/^127\.0\.0\.1:\d+ answered with more than 32 MB$/);
});
