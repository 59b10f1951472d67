/** Which `Host` reaches what: a page that pointed its own name at this machine gets nothing. */
import { request as httpRequest } from "node:http";
import { afterEach, expect, test } from "vitest";
import { registerManagement } from "../../../core/gateway/routes/management.ts";
import { registerWebhooks } from "../../../core/webhooks/endpoint/endpoints.ts";
import { gatewayToken, hookToken, openSocket, startHooks, startServer, type TestServer } from "./fixture.ts";

let http: TestServer;
afterEach(() => http.close());

interface Asked {
  readonly origin?: string;
  readonly method?: string;
  readonly token?: string;
  readonly to?: string;
  readonly body?: string;
}

/** `fetch` sets the `Host` itself. */
function ask(
  path: string,
  host: string,
  { method = "GET", token, to = "127.0.0.1", body, origin }: Asked = {},
): Promise<[number, string]> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = {
    host,
    "content-type": "application/json",
    ...authorization,
    ...(origin !== undefined && { origin }),
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: to, port: http.port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve([response.statusCode ?? 0, text]));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
const token = gatewayToken;
const poke = { method: "POST", token } as const;
const withPoke = (gateway: object = {}): Promise<TestServer> =>
  startServer({ gateway }, (server) => registerManagement(server, { async poke() {}, describe: () => ({}) }));

test("an unconfigured host name is refused on every route before the token is checked", async () => {
  http = await withPoke();
  for (const path of ["/gateway/poke", "/readyz", "/metrics", "/nowhere", "/"]) {
    const [status, text] = await ask(path, "evil.example", poke);
    expect(status, path).toBe(421);
    expect(JSON.parse(text)).toEqual({
      ok: false,
      code: "host_unknown",
      error: expect.stringMatching(/gateway\.publicUrl.*gateway\.allowedHosts/),
    });
    expect(text).not.toContain("evil");
  }
  // Thirty of them with a wrong token are no guesses.
  for (let count = 0; count < 30; count += 1) await ask("/gateway/poke", "evil.example", { ...poke, token: "guessed" });
  expect((await ask("/gateway/poke", "localhost", { ...poke, token: "guessed" }))[0]).toBe(401);
});

test.each([
  "localhost",
  "LOCALHOST:1",
  "localhost.",
  "127.0.0.1",
  "127.0.0.1:18789",
  "[::1]",
  "[::1]:9",
  "[0:0:0:0:0:0:0:1]",
])("%s is this machine, on any port", async (host) => {
  http = await withPoke();
  expect((await ask("/gateway/poke", host, poke))[0]).toBe(200);
});

test.each([
  "localhost.evil.example",
  "evil.example:80@localhost",
  "localhost/..",
  "localhost#",
  "127.0.0.1.evil.example",
  "127.0.0.2",
  "x y",
  "[::1",
])("%o only resembles a local host and is refused", async (host) => {
  http = await withPoke();
  expect((await ask("/gateway/poke", host, poke))[0]).toBe(421);
});

test("configured host names are served from the next request on", async () => {
  http = await withPoke({ publicUrl: "https://Gateway.Example:8443/base/", allowedHosts: ["box.lan", "fd00::1"] });
  for (const host of ["gateway.example", "gateway.example:8443", "box.lan:18789", "[fd00::1]:80"]) {
    expect((await ask("/gateway/poke", host, poke))[0], host).toBe(200);
  }
  expect((await ask("/gateway/poke", "sub.gateway.example", poke))[0]).toBe(421);
  const { publicUrl: _, ...gateway } = http.config.gateway;
  http.config = { ...http.config, gateway };
  expect((await ask("/gateway/poke", "gateway.example", poke))[0]).toBe(421);
});

test("a gateway on all addresses accepts the address that the client connected to", async () => {
  http = await withPoke({ host: "0.0.0.0" });
  // The address that stands in gateway.json, where the command line reads it.
  expect((await ask("/gateway/poke", `0.0.0.0:${http.port}`, poke))[0]).toBe(200);
  if (process.platform !== "linux") return;
  expect((await ask("/gateway/poke", "127.0.0.9", { ...poke, to: "127.0.0.9" }))[0]).toBe(200);
  expect((await ask("/gateway/poke", "127.0.0.9", poke))[0]).toBe(421);
  expect((await ask("/gateway/poke", "evil.example", { ...poke, to: "127.0.0.9" }))[0]).toBe(421);
});

test("hooks, platform webhooks and healthz accept any host name; other plugin routes do not", async () => {
  const hooks = await startHooks({
    hooks: { path: "/hooks" },
    deps: {},
  });
  http = hooks;
  const wake = { method: "POST", token: hookToken, body: '{"text":"x"}' };
  expect((await ask("/hooks/wake", "hooks.example", wake))[0]).toBe(200);
  expect((await ask("/hooks/wake", "hooks.example", { ...wake, token: "wrong" }))[0]).toBe(401);
  expect((await ask("/healthz", "10.0.0.7:18789"))[0]).toBe(200);
  for (const path of ["/hooksx/wake", "/Hooks/wake", "//hooks/wake", "/hooks%2fwake"]) {
    expect((await ask(path, "hooks.example", wake))[0], path).toBe(421);
  }
  await http.close();

  const answer = () => ({ body: "here" });
  http = await startServer({ hooks: { enabled: true, path: "/other" } }, (server, test) => {
    server.route("demo", { method: "POST", path: "platform", access: "public", rawBody: true, handler: answer });
    server.route("demo", { method: "GET", path: "page", access: "public", handler: answer });
    server.route("demo", { method: "GET", path: "/late/page", access: "public", handler: answer });
    registerWebhooks(server.app, {
      ...({} as Parameters<typeof registerWebhooks>[1]),
      config: () => test.config,
      isOn: () => false,
    });
  });
  expect(await ask("/plugins/demo/platform", "x.example", { method: "POST" })).toEqual([200, "here"]);
  expect((await ask("/plugins/demo/page", "x.example"))[0]).toBe(421);
  expect(await ask("/plugins/demo/page", "localhost")).toEqual([200, "here"]);
  http.config = { ...http.config, hooks: { ...http.config.hooks, path: "/late" } };
  expect((await ask("/late/page", "x.example"))[0]).toBe(421);
  expect((await ask("/late/none", "x.example"))[0]).toBe(404);
});

test("HTTP/1.0 without a Host header reaches only healthz", async () => {
  http = await withPoke();
  const answerTo = async (path: string): Promise<string> => {
    const { socket, ended } = await openSocket(http.port);
    socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
    return (await ended()).text;
  };
  expect(await answerTo("/healthz")).toMatch(/^HTTP\/1\.1 200 /);
  expect(await answerTo("/readyz")).toMatch(/^HTTP\/1\.1 421 Misdirected Request/);
});

test("a request with an absolute URL is for the host in that URL, hooks included", async () => {
  const hooks = await startHooks();
  http = hooks;
  const wake = { method: "POST", token: hookToken, body: '{"text":"hi"}' } as const;
  expect((await ask("http://127.0.0.1/hooks/wake?from=proxy", "127.0.0.1", wake))[0]).toBe(200);
  expect((await ask("http://any.example/hooks/wake?token=", "any.example", wake))[0]).toBe(400);
  await hooks.close();

  http = await withPoke({ publicUrl: "https://bot.example" });
  expect((await ask("HTTPS://bot.example:443/gateway/poke", "evil.example", poke))[0]).toBe(200);
  expect((await ask("http://evil.example/gateway/poke", "bot.example", poke))[0]).toBe(421);
  expect((await ask("http://bot.example@evil.example/gateway/poke", "bot.example", poke))[0]).toBe(421);
  expect((await ask("http://bot.example", "bot.example", poke))[0]).toBe(404);
});

test.each([
  ["https://bot.example", "bot.example:443", 200],
  ["http://bot.example:80", "bot.example", 200],
  ["https://bot.example", "bot.example:80", 403],
  ["http://bot.example:8080", "bot.example", 403],
  ["null", "bot.example", 403],
])("a page of %s calling the host %s gets %d", async (origin, host, status) => {
  http = await withPoke({ publicUrl: "https://bot.example" });
  expect((await ask("/gateway/poke", host, { ...poke, origin }))[0]).toBe(status);
});
