import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import Type from "typebox";
import { afterEach, describe, expect, test } from "vitest";
import { HostError } from "../../../core/contract/errors.ts";
import { registerManagement } from "../../../core/gateway/routes/management.ts";
import { createMetrics } from "../../../core/http/metrics.ts";
import type { RouteDefinition } from "../../../core/sdk/contract.ts";
import { gatewayToken, openSocket, startServer, type TestServer, toAnswer } from "./fixture.ts";

let http: TestServer;
afterEach(() => http.close());

const withRoutes = (
  routes: readonly RouteDefinition[],
  options: Parameters<typeof startServer>[0] = {},
): Promise<TestServer> =>
  startServer(options, (server) => {
    for (const route of routes) server.route("demo", route);
  });
const get = async (path: string, init: RequestInit = {}): ReturnType<typeof toAnswer> =>
  toAnswer(await fetch(`${http.url}${path}`, init));
const bearer = { authorization: `Bearer ${gatewayToken}` };

describe("health", () => {
  test("healthz is open and reports that the process is alive", async () => {
    http = await startServer();
    expect(await get("/healthz")).toMatchObject({ status: 200, json: { ok: true } });
  });

  test("readyz is 503 until the gateway is up, and gives reasons only to token holders", async () => {
    const reasons = ["The channel a is connecting."];
    const state = { ready: false };
    http = await startServer({ readiness: () => ({ ...state, reasons: [...reasons] }) });
    expect(await get("/readyz")).toMatchObject({ status: 503, text: '{"ok":false}' });
    expect(await get("/readyz", { headers: bearer })).toMatchObject({
      status: 503,
      json: { ok: false, code: "unavailable", reasons },
    });
    state.ready = true;
    expect(await get("/readyz")).toMatchObject({ status: 200, text: '{"ok":true}' });
    expect(await get("/readyz", { headers: bearer })).toMatchObject({
      status: 200,
      text: JSON.stringify({ ok: true, degraded: true, reasons }),
    });
    reasons.pop();
    expect(await get("/readyz", { headers: bearer })).toMatchObject({ status: 200, text: '{"ok":true}' });
  });

  test("metrics are Prometheus text, for the gateway token and for device tokens", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "events_total", help: "Events." }).add();
    http = await startServer({
      metrics: async () => metrics.render(),
      deviceToken: async (token) => token === "of-a-device",
    });
    const refused = await get("/metrics");
    expect(refused).toMatchObject({ status: 401, json: { ok: false, code: "unauthorized" } });
    expect(refused.text).not.toContain("events_total");
    for (const headers of [bearer, { authorization: "Bearer of-a-device" }]) {
      const answer = await get("/metrics", { headers });
      expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
      expect(answer.text).toContain("events_total 1\n");
    }
    http.config = { ...http.config, gateway: { ...http.config.gateway, metrics: { public: true } } };
    expect((await get("/metrics")).text).toContain("events_total 1\n");
    expect((await get("/metrics", { headers: { host: "evil.example", origin: "http://evil.example" } })).status).toBe(
      403,
    );
  });

  test("token guesses on these routes are counted as on all others", async () => {
    http = await startServer({}, (server) => registerManagement(server, { async poke() {}, describe: () => ({}) }));
    const wrong = { authorization: "Bearer guessed" };
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) {
      statuses.push(
        (await get("/readyz", { headers: wrong })).status,
        (await get("/metrics", { headers: wrong })).status,
      );
    }
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429]);
    expect((await get("/gateway/describe", { headers: wrong })).status).toBe(429);
    // A probe shows none, and is none.
    expect((await get("/readyz")).status).toBe(200);
    expect((await get("/readyz", { headers: bearer })).status).toBe(200);
  });
});

describe("management routes", () => {
  test("require the gateway token from every client", async () => {
    let pokes = 0;
    http = await startServer({}, (server) =>
      registerManagement(server, { poke: async () => void pokes++, describe: () => ({ plugins: [] }) }),
    );
    expect(await get("/gateway/poke", { method: "POST" })).toMatchObject({
      status: 401,
      json: { ok: false, code: "unauthorized" },
    });
    expect(await get("/gateway/describe", { headers: { authorization: "Bearer x" } })).toMatchObject({ status: 401 });
    expect(pokes).toBe(0);
    expect(await get("/gateway/poke", { method: "POST", headers: bearer })).toMatchObject({
      status: 200,
      json: { ok: true },
    });
    expect(await get("/gateway/describe", { headers: bearer })).toMatchObject({
      status: 200,
      json: { ok: true, gateway: { plugins: [] } },
    });
    expect(pokes).toBe(1);
  });
});

test("a request during a database outage is asked to retry later and is not logged as a gateway error", async () => {
  const away = () => Promise.reject(new HostError("database_away", { reason: "connect ECONNREFUSED 10.0.0.7:5432" }));
  http = await startServer({}, (server) => registerManagement(server, { async poke() {}, describe: away }));
  const answer = await get("/gateway/describe", { headers: bearer });
  expect(answer).toMatchObject({ status: 503, json: { ok: false, code: "unavailable" } });
  expect(answer.text).toContain("database is not available");
  expect(answer.text).not.toContain("10.0.0.7");
  expect(answer.headers.get("retry-after")).toBe("5");
});

describe("plugin routes", () => {
  const echo: RouteDefinition = {
    method: "POST",
    path: "echo/:id",
    access: "public",
    handler: ({ params, query, body, path, clientAddress }) => ({
      status: 201,
      headers: { "x-a": "b" },
      body: { params, query, body, path, clientAddress },
    }),
  };

  test("a route is served below its plugin's path and receives the request", async () => {
    http = await withRoutes([echo]);
    const answer = await get("/plugins/demo/echo/7?a=1&a=2", {
      method: "POST",
      body: '{"x":1}',
      headers: { "content-type": "application/json" },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("x-a")).toBe("b");
    expect(answer.json).toEqual({
      params: { id: "7" },
      query: { a: "2" },
      body: { x: 1 },
      path: "/plugins/demo/echo/7",
      clientAddress: "127.0.0.1",
    });
  });

  test("a route from the root is served at its exact path, but cannot take one of the gateway's own", async () => {
    http = await withRoutes([{ method: "GET", path: "/hello", access: "public", handler: () => ({ body: "hi" }) }]);
    const answer = await get("/hello");
    expect(answer.text).toBe("hi");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    for (const path of ["/healthz", "/gateway/x", "/hooks/wake", "/hooks", "/hello"]) {
      expect(
        () => http.server.route("demo", { method: "GET", path, access: "public", handler: () => ({}) }),
        path,
      ).toThrow("already in use");
    }
  });

  test("access is decided before the body is read, and a device reaches only routes open to devices", async () => {
    const handler: RouteDefinition["handler"] = ({ headers }) => ({ body: { seen: headers.authorization ?? null } });
    http = await withRoutes(
      [
        { method: "GET", path: "g", access: "gateway", handler },
        { method: "GET", path: "d", access: "device", handler },
        { method: "GET", path: "p", access: "public", handler },
      ],
      { deviceToken: async (token) => token === "device-1" },
    );
    const status = async (path: string, authorization: string): Promise<number> =>
      (await get(`/plugins/demo/${path}`, { headers: { authorization } })).status;
    expect(await status("g", `Bearer ${gatewayToken}`)).toBe(200);
    expect(await status("d", `Bearer ${gatewayToken}`)).toBe(200);
    expect(await status("d", "Bearer device-1")).toBe(200);
    expect(await status("g", "Bearer device-1")).toBe(401);
    expect(await status("p", "")).toBe(200);
    // The token that opened the door is not handed to the plugin behind it.
    expect((await get("/plugins/demo/g", { headers: bearer })).json).toEqual({ seen: null });
  });

  test("guesses at the gateway token are limited", async () => {
    http = await withRoutes([{ method: "GET", path: "g", access: "gateway", handler: () => ({}) }]);
    for (let count = 0; count < 20; count++) expect((await get("/plugins/demo/g")).status).toBe(401);
    const limited = await get("/plugins/demo/g");
    expect(limited).toMatchObject({ status: 429, json: { code: "rate_limited" } });
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await get("/plugins/demo/g", { headers: bearer })).status).toBe(200);
  });

  test("a body that does not match the schema gets 400 before the handler runs, naming the field", async () => {
    let calls = 0;
    const handler = (): object => ({ body: { calls: ++calls } });
    http = await withRoutes([
      {
        method: "POST",
        path: "s",
        access: "public",
        schema: Type.Object({ a: Type.Object({ b: Type.Integer() }) }),
        handler,
      },
    ]);
    const send = (body: string): ReturnType<typeof get> =>
      get("/plugins/demo/s", { method: "POST", body, headers: { "content-type": "application/json" } });
    expect(await send('{"a":{"b":"x"}}')).toMatchObject({
      status: 400,
      json: { code: "invalid_payload", error: expect.stringMatching(/^a\.b must/) },
    });
    expect((await send("")).status).toBe(400);
    expect(calls).toBe(0);
    expect((await send('{"a":{"b":1}}')).json).toEqual({ calls: 1 });
  });

  test("a raw body of any type arrives byte for byte, within its limit", async () => {
    http = await withRoutes([
      {
        method: "POST",
        path: "r",
        access: "public",
        rawBody: true,
        maxBodyBytes: 10,
        handler: ({ body }) => ({ type: "application/x-own", body: body as Buffer }),
      },
    ]);
    const send = (body: Uint8Array<ArrayBuffer>): Promise<Response> =>
      fetch(`${http.url}/plugins/demo/r`, { method: "POST", body, headers: { "content-type": "image/x" } });
    const answer = await send(new Uint8Array([0, 255, 10]));
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 255, 10]);
    expect(answer.headers.get("content-type")).toBe("application/x-own");
    expect((await send(new Uint8Array(10))).status).toBe(200);
    expect(await toAnswer(await send(new Uint8Array(11)))).toMatchObject({
      status: 413,
      json: { code: "payload_too_large" },
    });
  });

  test("a handler that throws returns 500 without its message, which is logged", async () => {
    http = await withRoutes([
      {
        method: "GET",
        path: "boom",
        access: "public",
        handler: () => {
          throw new Error("inner detail");
        },
      },
    ]);
    const answer = await get("/plugins/demo/boom");
    expect(answer).toMatchObject({ status: 500, json: { ok: false, code: "internal" } });
    expect(answer.text).not.toContain("inner detail");
    expect(JSON.stringify(http.log.lines)).toContain("inner detail");
  });

  test("a page of another origin is refused, one of the same origin is not", async () => {
    http = await withRoutes([echo]);
    const send = (origin: string): Promise<number> =>
      get("/plugins/demo/echo/1", {
        method: "POST",
        headers: { origin, "content-type": "application/json" },
        body: "{}",
      }).then(({ status }) => status);
    expect(await send("https://evil.example")).toBe(403);
    expect(await send("null")).toBe(403);
    expect(await send(http.url)).toBe(201);
  });
});

describe("an event stream", () => {
  test("of a device ends as soon as the device loses access", async () => {
    const known = new Set(["device-1"]);
    const next = Promise.withResolvers<void>();
    const events = async function* () {
      yield 1;
      await next.promise;
      yield 2;
    };
    http = await withRoutes([{ method: "GET", path: "e", access: "device", handler: () => ({ events: events() }) }], {
      deviceToken: async (token) => known.has(token),
    });
    const response = await fetch(`${http.url}/plugins/demo/e`, { headers: { authorization: "Bearer device-1" } });
    known.clear();
    next.resolve();
    expect(await response.text()).toBe("data: 1\n\n");
  });

  test("sends data lines until its iterable ends", async () => {
    async function* events(): AsyncGenerator<{ n: number }> {
      for (let n = 0; n < 3; n++) yield { n };
    }
    http = await withRoutes([{ method: "GET", path: "e", access: "public", handler: () => ({ events: events() }) }]);
    const answer = await get("/plugins/demo/e");
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.text).toBe('data: {"n":0}\n\ndata: {"n":1}\n\ndata: {"n":2}\n\n');
  });

  test("ends when the client disconnects and when the server closes", async () => {
    let open = 0;
    const events = (): AsyncIterable<number> => ({
      [Symbol.asyncIterator]: () => {
        open += 1;
        let first = true;
        return {
          next: () =>
            first
              ? Promise.resolve({ done: false as const, value: 1 }).finally(() => (first = false))
              : new Promise(() => {}),
          return: async () => {
            open -= 1;
            return { done: true as const, value: undefined };
          },
        };
      },
    });
    http = await withRoutes([{ method: "GET", path: "e", access: "public", handler: () => ({ events: events() }) }], {
      closeTimeoutMs: 60_000,
    });
    const leave = new AbortController();
    const first = await fetch(`${http.url}/plugins/demo/e`, { signal: leave.signal });
    const second = await fetch(`${http.url}/plugins/demo/e`);
    expect(open).toBe(2);
    leave.abort();
    await first.text().catch(() => {});
    await expect.poll(() => open).toBe(1);
    // Well before the time after which whatever is open is cut.
    await http.close();
    expect(await second.text()).toBe("data: 1\n\n");
    expect(open).toBe(0);
  });
});

describe("errors of the server itself", () => {
  test("an unknown address is 404, and a known one with another method 405 with Allow, as JSON", async () => {
    http = await withRoutes([{ method: "GET", path: "only/:x", access: "public", handler: () => ({}) }]);
    expect(await get("/nothing")).toMatchObject({ status: 404, json: { ok: false, code: "not_found" } });
    expect(await get("/nothing", { method: "POST", body: "{" })).toMatchObject({ status: 404 });
    expect(await get("/%zz")).toMatchObject({ status: 404, json: { ok: false, code: "not_found" } });
    for (const path of ["/plugins/demo/only/1", "/healthz"]) {
      const answer = await get(path, { method: "POST" });
      expect(answer).toMatchObject({ status: 405, json: { ok: false, code: "method_not_allowed" } });
      expect(answer.headers.get("allow")).toBe("GET, HEAD");
    }
  });

  test("invalid JSON gets 400, another content type 415", async () => {
    http = await withRoutes([{ method: "POST", path: "x", access: "public", handler: () => ({}) }]);
    const send = (body: string, type: string): ReturnType<typeof get> =>
      get("/plugins/demo/x", { method: "POST", body, headers: { "content-type": type } });
    expect(await send("{", "application/json")).toMatchObject({ status: 400, json: { code: "invalid_json" } });
    expect(await send("{}", "text/plain")).toMatchObject({ status: 415, json: { code: "unsupported_media_type" } });
    expect(await send("{}", "nonsense")).toMatchObject({ status: 415, json: { code: "unsupported_media_type" } });
  });

  test("input that is not HTTP gets 400, oversized headers get 431, and the socket is closed", async () => {
    http = await startServer();
    const rows = [
      ["nonsense\r\n\r\n", 400, "bad_request"],
      ["GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "bad_request"],
      [`GET / HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`, 431, "headers_too_large"],
    ] as const;
    for (const [text, status, code] of rows) {
      const socket = await openSocket(http.port);
      socket.write(text);
      const answer = await socket.until(/\}$/);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(JSON.parse(answer.slice(answer.indexOf("{")))).toMatchObject({ ok: false, code });
      socket.socket.end();
      await socket.ended();
    }
  });

  test("headers that never end get 408", async () => {
    http = await startServer({ requestTimeoutMs: 200 });
    const socket = await openSocket(http.port);
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n");
    expect(await socket.until(/\}$/)).toMatch(/^HTTP\/1\.1 408 /);
    socket.socket.destroy();
  });

  test("an idle connection is closed silently, so that no later request takes a response for its own", async () => {
    http = await startServer({ requestTimeoutMs: 200 });
    const socket = await openSocket(http.port);
    expect(await socket.ended()).toMatchObject({ text: "" });
  });
});

describe("listening and closing", () => {
  test("a port in use is an error that names the port", async () => {
    http = await startServer();
    const error = await startServer({ gateway: { port: http.port } }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(HostError);
    expect(error).toMatchObject({ code: "port_in_use", message: `127.0.0.1:${http.port} is already in use.` });
  });

  test("an address that cannot be bound is an error that names the address", async () => {
    http = await startServer();
    expect(await startServer({ gateway: { host: "192.0.2.1" } }).catch((caught: unknown) => caught)).toMatchObject({
      code: "listen_failed",
    });
  });

  test("localhost is a single address with the same limits", async () => {
    http = await startServer({ gateway: { host: "localhost" } });
    expect(http.url).toBe(`http://127.0.0.1:${http.port}`);
    expect((await get("/healthz")).status).toBe(200);
  });

  test("a request in progress is finished, and new connections are refused", async () => {
    const begun = Promise.withResolvers<void>();
    http = await withRoutes([
      {
        method: "GET",
        path: "slow",
        access: "public",
        async handler() {
          begun.resolve();
          await sleep(100);
          return { body: "done" };
        },
      },
    ]);
    const idle = await openSocket(http.port);
    const answer = get("/plugins/demo/slow");
    await begun.promise;
    const closing = http.close();
    expect((await answer).text).toBe("done");
    await closing;
    await idle.ended();
    const refused = await new Promise((resolve) => connect(http.port, "127.0.0.1").once("error", resolve));
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a handler that never responds does not delay closing", async () => {
    const begun = Promise.withResolvers<void>();
    const handler = () => {
      begun.resolve();
      return new Promise<never>(() => {});
    };
    http = await withRoutes([{ method: "GET", path: "never", access: "public", handler }], { closeTimeoutMs: 100 });
    const answer = get("/plugins/demo/never").catch(() => "cut");
    await begun.promise;
    await Promise.all([http.close(), http.close()]);
    expect(await answer).toBe("cut");
  });
});
