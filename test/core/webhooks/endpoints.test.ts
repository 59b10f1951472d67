import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HostError } from "../../../core/contract/errors.ts";
import { type HookServer, hookToken, openSocket, startHooks, toAnswer } from "../http/fixture.ts";

let hooks: HookServer;
beforeAll(async () => {
  hooks = await startHooks();
});
afterAll(() => hooks.close());

const bearer = { authorization: `Bearer ${hookToken}`, "content-type": "application/json" };

describe("the endpoints", () => {
  test("wake returns 200 with its mode and the event id", async () => {
    const answer = await hooks.post("wake", { text: "The disk is full" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.json).toEqual({ ok: true, mode: "now", eventId: `event-${hooks.events.length}` });
  });

  test("a wake becomes an event of the default agent's main session, read with its heartbeat", async () => {
    await hooks.post("wake", { text: " as it came ", mode: "now" });
    expect(hooks.events.at(-1)).toEqual({
      event: {
        source: "hooks",
        kind: "wake",
        lane: "agent:main:main",
        authority: "hook",
        gather: { key: "heartbeat:agent:main:main", due: hooks.clock.at + 250 },
        body: { text: " as it came ", mode: "now" },
      },
    });
  });

  test("a wake for the next heartbeat does not start a run", async () => {
    const answer = await hooks.post("wake", { text: "x", mode: "next-heartbeat" });
    expect(answer.json.mode).toBe("next-heartbeat");
    expect(hooks.events.at(-1)?.event.gather).toEqual({ key: "heartbeat:agent:main:main", due: null });
  });

  test("agent returns 202 with the run id", async () => {
    const answer = await hooks.post("agent", { message: "Summarise the mail" });
    expect(answer.status).toBe(202);
    const id = `event-${hooks.events.length}`;
    expect(answer.json).toEqual({ ok: true, runId: id, eventId: id });
  });

  test("an unknown name gets 404 after its body is read", async () => {
    expect(await hooks.post("nothing", {})).toMatchObject({ status: 404, json: { ok: false, code: "not_found" } });
    expect(await hooks.post("nothing", "{")).toMatchObject({ status: 400, json: { code: "invalid_json" } });
  });

  test("wake and agent match only as exact names", async () => {
    for (const path of ["wake/", "/wake", "Wake", "wakeup", "%77ake", "agent/x"]) {
      expect((await hooks.post(path, { text: "x", message: "x" })).status, path).toBe(404);
    }
  });
});

describe("the errors", () => {
  const rows: readonly (readonly [string, number, string, () => Promise<Response>])[] = [
    [
      "an invalid payload",
      400,
      "invalid_payload",
      () => fetch(`${hooks.url}/hooks/wake`, { method: "POST", headers: bearer, body: "{}" }),
    ],
    [
      "a token in the query",
      400,
      "query_token",
      () => fetch(`${hooks.url}/hooks/wake?token=x`, { method: "POST", headers: bearer }),
    ],
    [
      "a failed authentication",
      401,
      "unauthorized",
      () => fetch(`${hooks.url}/hooks/wake`, { method: "POST", body: "{}" }),
    ],
    [
      "a payload that is too large",
      413,
      "payload_too_large",
      () => fetch(`${hooks.url}/hooks/wake`, { method: "POST", headers: bearer, body: "x".repeat(262_145) }),
    ],
    [
      "a method that is not POST",
      405,
      "method_not_allowed",
      () => fetch(`${hooks.url}/hooks/wake`, { headers: bearer }),
    ],
    [
      "a type that is not JSON",
      415,
      "unsupported_media_type",
      () =>
        fetch(`${hooks.url}/hooks/wake`, {
          method: "POST",
          headers: { ...bearer, "content-type": "text/plain" },
          body: "{}",
        }),
    ],
    [
      "a body that is not JSON",
      400,
      "invalid_json",
      () => fetch(`${hooks.url}/hooks/wake`, { method: "POST", headers: bearer, body: "{" }),
    ],
    [
      "a request of a web page",
      403,
      "origin_refused",
      () =>
        fetch(`${hooks.url}/hooks/wake`, {
          method: "POST",
          headers: { ...bearer, origin: "http://localhost:3000" },
          body: "{}",
        }),
    ],
    ["an empty sub-path", 404, "not_found", () => fetch(`${hooks.url}/hooks/`, { method: "POST", headers: bearer })],
  ];

  test.each(rows)("%s gets %i %s, as JSON with a sentence", async (_name, status, code, send) => {
    const answer = await toAnswer(await send());
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(Object.keys(answer.json)).toEqual(["ok", "error", "code"]);
    expect(answer.json).toMatchObject({ ok: false, code });
    expect(answer.json.error).toMatch(/^\S.*\.$/);
    expect(answer.text).not.toContain(hookToken);
  });

  test("405 names the allowed method for every method and does not count against the client", async () => {
    const own = await startHooks();
    for (let round = 0; round < 30; round++) {
      const answer = await fetch(`${own.url}/hooks/wake`, {
        method: ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"][round % 5] ?? "",
      });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST");
      await answer.text();
    }
    const socket = await openSocket(own.port);
    socket.write("PROPFIND /hooks/wake HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await socket.until(/method_not_allowed/)).toContain("HTTP/1.1 405");
    socket.socket.destroy();
    expect((await toAnswer(await fetch(`${own.url}/hooks/wake`, { method: "POST" }))).status).toBe(401);
    await own.close();
  });

  test("a store that cannot accept the event returns 503 with Retry-After and acknowledges nothing", async () => {
    const own = await startHooks({
      deps: { accept: () => Promise.reject(new HostError("state_full", { reason: "no space at /secret/dir" })) },
    });
    const answers = [await own.post("wake", { text: "x" }), await own.post("agent", { message: "x" })];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, json: { ok: false, code: "unavailable" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(answer.text).not.toContain("/secret/dir");
    }
    expect(own.log.lines.filter((line) => line.level === "error")).toHaveLength(2);
    await own.close();
  });

  test("an internal error returns 500 without its message", async () => {
    const own = await startHooks({
      deps: {
        agents: {
          exists: () => true,
          defaultId: () => {
            throw new Error("secret detail");
          },
        },
      },
    });
    const answer = await own.post("wake", { text: "x" });
    expect(answer).toMatchObject({ status: 500, json: { code: "internal" } });
    expect(answer.text).not.toContain("secret detail");
    await own.close();
  });
});

describe("the order of checks", () => {
  const call = (path: string, init: RequestInit): Promise<number> =>
    fetch(`${hooks.url}${path}`, init).then((response) => response.status);

  test("checks the path before the method", async () => {
    expect(await call("/other", { method: "GET" })).toBe(404);
    expect(await call("/hooksies", { method: "GET" })).toBe(404);
    expect(await call("/Hooks/wake", { method: "GET" })).toBe(404);
  });
  test("checks the method before a token in the query", async () => {
    expect(await call("/hooks/wake?token=1", { method: "GET" })).toBe(405);
    expect(await call("/hooks", { method: "GET" })).toBe(405);
  });
  test("rejects a query token before authentication, even an empty or differently spelled one", async () => {
    for (const query of ["token=x", "token", "token=", "TOKEN=x", "%74oken=x", "a=1&token=", "a=1&Token"]) {
      expect(await call(`/hooks/wake?${query}`, { method: "POST" }), query).toBe(400);
    }
    expect(await call("/hooks/wake?tokens=x", { method: "POST" })).toBe(401);
  });
  test("checks authentication before the sub-path", async () => {
    expect(await call("/hooks", { method: "POST" })).toBe(401);
    expect(await call("/hooks/nothing", { method: "POST" })).toBe(401);
  });
  test("checks the sub-path before the body", async () => {
    expect(
      await call("/hooks/", {
        method: "POST",
        headers: { authorization: bearer.authorization, "content-type": "text/plain" },
        body: "x",
      }),
    ).toBe(404);
    expect(await call("/hooks//", { method: "POST", headers: bearer, body: "{" })).toBe(404);
  });
  test("checks the content type before the content", async () => {
    expect(
      await call("/hooks/wake", { method: "POST", headers: { ...bearer, "content-type": "text/xml" }, body: "{" }),
    ).toBe(415);
  });
  test("lets no other spelling of a hook address past the token", async () => {
    for (const path of [
      "/hooks/%2e%2e/hooks/wake",
      "//hooks/wake",
      "/hooks;x/wake",
      "/%68ooks/wake",
      "/hooks%2fwake",
      "/hooks/./wake",
      "/hooks/%zz",
      "/hooks/wake.",
      `/hooks/${"x".repeat(5_000)}`,
    ]) {
      const socket = await openSocket(hooks.port);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\nContent-Type: ` +
          `application/json\r\nConnection: close\r\n\r\n{"text":"x"}`,
      );
      expect((await socket.ended()).text, path).toMatch(/^HTTP\/1\.1 (?:401|404|400)/);
    }
  });
});

describe("the configuration", () => {
  test("disabled hooks return 404", async () => {
    const own = await startHooks({ hooks: { enabled: false } });
    expect(await own.post("wake", { text: "x" })).toMatchObject({ status: 404, json: { code: "not_found" } });
    await own.close();
  });

  test("a changed base path applies from the next request on", async () => {
    const own = await startHooks({ hooks: { path: " incoming/events// " } });
    const send = (path: string): Promise<number> =>
      fetch(`${own.url}${path}`, { method: "POST", headers: bearer, body: '{"text":"x"}' }).then(
        (response) => response.status,
      );
    expect(await send("/incoming/events/wake")).toBe(200);
    own.config = { ...own.config, hooks: { ...own.config.hooks, path: "/elsewhere" } };
    expect(await send("/incoming/events/wake")).toBe(404);
    expect(await send("/elsewhere/wake")).toBe(200);
    await own.close();
  });

  test("a base path of slashes alone matches no request", async () => {
    const own = await startHooks({ hooks: { path: "//" } });
    expect(
      await fetch(`${own.url}/wake`, { method: "POST", headers: bearer, body: '{"text":"x"}' }).then(
        (response) => response.status,
      ),
    ).toBe(404);
    await own.close();
  });

  test("a changed body limit applies from the next request on", async () => {
    const own = await startHooks();
    const body = JSON.stringify({ text: "x".repeat(100) });
    expect((await own.post("wake", body)).status).toBe(200);
    own.config = { ...own.config, hooks: { ...own.config.hooks, maxBodyBytes: 50 } };
    expect((await own.post("wake", body)).status).toBe(413);
    await own.close();
  });
});

test("a refused request is reported with its reason and without its query", async () => {
  const refused: unknown[] = [];
  const own = await startHooks({ deps: { onRefused: (info) => refused.push(info) } });
  await own.post("agent?key=private", { message: 5 });
  expect(refused).toEqual([
    {
      at: own.clock.at,
      code: "invalid_payload",
      status: 400,
      detail: "message must be a string.",
      subPath: "agent",
      client: "127.0.0.1",
    },
  ]);
  await own.close();
});
