import { afterEach, describe, expect, test } from "vitest";
import { createAuthenticate } from "../../../core/webhooks/endpoint/authenticate.ts";
import { type HookServer, hookToken, openSocket, startHooks } from "../http/fixture.ts";

let hooks: HookServer;
afterEach(() => hooks.close());

const wake = (headers: Record<string, string>): Promise<number> =>
  fetch(`${hooks.url}/hooks/wake`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: '{"text":"x"}',
  }).then((response) => response.status);

describe("the hook token", () => {
  test("is accepted as a Bearer token, with the scheme in any case", async () => {
    hooks = await startHooks();
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEARER "]) {
      expect(await wake({ authorization: `${scheme} ${hookToken}` }), scheme).toBe(200);
    }
  });

  test("is accepted in its own header", async () => {
    hooks = await startHooks();
    expect(await wake({ "x-service-token": hookToken })).toBe(200);
    expect(await wake({ "x-service-token": `  ${hookToken}  ` })).toBe(200);
  });

  test("is read from its own header if no Bearer token is sent; a Bearer token takes precedence", async () => {
    hooks = await startHooks();
    expect(await wake({ authorization: "Bearer wrong", "x-service-token": hookToken })).toBe(401);
    expect(await wake({ authorization: "Bearer ", "x-service-token": hookToken })).toBe(200);
    expect(await wake({ authorization: "Basic abc", "x-service-token": hookToken })).toBe(200);
  });

  test("cannot be replaced by a loopback address, a near match or a cookie", async () => {
    hooks = await startHooks();
    const wrong: readonly Record<string, string>[] = [
      {},
      { authorization: hookToken },
      { authorization: `Basic ${hookToken}` },
      { authorization: `Bearer ${hookToken}x` },
      { authorization: `Bearer ${hookToken.slice(0, -1)}` },
      { authorization: `Bearer ${hookToken.toUpperCase()}` },
      { authorization: `Bearer ${hookToken},${hookToken}` },
      { authorization: `Bearer ${hookToken}${"\u00a0".repeat(64)}x` },
      { cookie: `token=${hookToken}` },
      { "x-forwarded-for": "127.0.0.1" },
    ];
    for (const headers of wrong) expect(await wake(headers), JSON.stringify(headers)).toBe(401);
    expect(hooks.events).toHaveLength(0);
  });

  test("must be configured, or every request is refused", async () => {
    hooks = await startHooks();
    // Without one the hook server is off.
    for (const [token, status] of [[undefined, 404] as const, ["", 401] as const]) {
      hooks.setToken(token);
      expect(await wake({})).toBe(status);
      expect(await wake({ authorization: "Bearer undefined" })).toBe(status);
      expect(await wake({ "x-service-token": "" })).toBe(status);
    }
  });

  test("can be longer than a block and contain non-ASCII letters", async () => {
    hooks = await startHooks();
    for (const token of ["a".repeat(64), "b".repeat(65), "c".repeat(500), "schlüssel-ж-🔑"]) {
      hooks.setToken(token);
      const sent = Buffer.from(token, "utf8").toString("latin1");
      const socket = await openSocket(hooks.port);
      socket.write(
        Buffer.from(
          `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${sent}\r\nContent-Length: ` +
            `12\r\nConnection: close\r\n\r\n{"text":"x"}`,
          "latin1",
        ),
      );
      expect((await socket.ended()).text, token).toMatch(/^HTTP\/1\.1 200/);
      expect(await wake({ authorization: `Bearer ${"a".repeat(63)}` })).toBe(401);
    }
  });

  test("takes effect from the next request after a change, and the old one is refused", async () => {
    hooks = await startHooks();
    expect(await wake({ authorization: `Bearer ${hookToken}` })).toBe(200);
    hooks.setToken("the-next-token");
    expect(await wake({ authorization: `Bearer ${hookToken}` })).toBe(401);
    expect(await wake({ authorization: "Bearer the-next-token" })).toBe(200);
  });
});

describe("repeated failures", () => {
  const fail = async (times: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let count = 0; count < times; count++) statuses.push(await wake({ authorization: "Bearer wrong" }));
    return statuses;
  };

  test("get 401 for the first 20 in a window, then 429 with the seconds until it ends", async () => {
    hooks = await startHooks();
    expect(new Set(await fail(20))).toEqual(new Set([401]));
    hooks.clock.at += 12_500;
    const limited = await fetch(`${hooks.url}/hooks/wake`, { method: "POST" });
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe("48");
    expect(await limited.json()).toMatchObject({ ok: false, code: "rate_limited" });
    hooks.clock.at += 47_499;
    const last = await fetch(`${hooks.url}/hooks/wake`, { method: "POST" });
    expect(last.headers.get("retry-after")).toBe("1");
    await last.text();
    hooks.clock.at += 1;
    expect(await wake({})).toBe(401);
  });

  test("do not block a correct token, which clears the count", async () => {
    hooks = await startHooks();
    await fail(25);
    expect(await wake({})).toBe(429);
    expect(await wake({ authorization: `Bearer ${hookToken}` })).toBe(200);
    expect(await wake({})).toBe(401);
  });

  test("are limited to 20 attempts out of 200 simultaneous ones", async () => {
    hooks = await startHooks();
    const statuses = await Promise.all(Array.from({ length: 200 }, () => wake({ authorization: "Bearer wrong" })));
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(180);
  });

  test("share one budget for all headers, and one log line reports when it is used up", async () => {
    hooks = await startHooks();
    for (let count = 0; count < 10; count++) {
      await wake({ "x-service-token": "guessed-token" });
      await wake({ authorization: "Bearer guessed-token" });
    }
    expect(await wake({})).toBe(429);
    expect(await wake({})).toBe(429);
    const warned = hooks.log.lines.filter((line) => line.level === "warn").map(({ message }) => message);
    expect(warned).toHaveLength(2);
    expect(warned[0], "the first one at once; the others are counted in the line of the next minute").toContain(
      "wrong or missing token",
    );
    expect(JSON.stringify(hooks.log.lines)).not.toContain("guessed-token");
  });

  test("are counted per client behind a trusted proxy; an untrusted forwarding header is ignored", async () => {
    hooks = await startHooks({ gateway: { trustedProxies: ["127.0.0.0/8"] } });
    const from = (address: string): Promise<number> => wake({ "x-forwarded-for": address });
    for (let count = 0; count < 20; count++) await from(`spoofed, 198.51.100.${count}, 203.0.113.7`);
    expect(await from("203.0.113.7")).toBe(429);
    expect(await from("203.0.113.8")).toBe(401);
    hooks.config = { ...hooks.config, gateway: { ...hooks.config.gateway, trustedProxies: [] } };
    for (let count = 0; count < 20; count++) await from(`203.0.113.${count}`);
    expect(await from("203.0.113.99")).toBe(429);
  });

  test("ignore a trusted proxy entry that is not an address, and the log reports it", async () => {
    hooks = await startHooks({ gateway: { trustedProxies: ["proxy.example", "127.0.0.1"] } });
    await wake({ "x-forwarded-for": "203.0.113.7" });
    await wake({});
    const warned = hooks.log.lines.filter((line) => line.level === "warn").map((line) => line.fields);
    expect(warned.filter(({ path }) => path !== undefined)).toEqual([
      { path: "gateway.trustedProxies", entry: "proxy.example" },
    ]);
  });

  test("are counted in a bounded table, which forgets the oldest clients first", async () => {
    hooks = await startHooks();
    let client = 0;
    const { token: authenticate } = createAuthenticate({
      elapsed: () => 0,
      clientAddress: () => `client-${client}`,
      token: () => "secret",
    });
    const request = { headers: {} } as Parameters<typeof authenticate>[0];
    for (let count = 0; count < 21; count++) authenticate(request);
    expect(authenticate(request)?.code).toBe("rate_limited");
    for (client = 1; client < 10_000; client++) authenticate(request);
    client = 0;
    expect(authenticate(request)?.code).toBe("rate_limited");
    client = 10_001;
    authenticate(request);
    client = 0;
    expect(authenticate(request)?.code).toBe("unauthorized");
  });
});
