/** Guesses at credentials: what is compared, what is answered, and what clears the count. */
import { afterEach, describe, expect, test } from "vitest";
import { senderOf } from "../../support/senders.ts";
import { parseAnswers } from "../../support/wire.ts";
import {
  gatewayToken,
  type HookServer,
  hookToken,
  openSocket,
  startHooks,
  startServer,
  type TestServer,
} from "./fixture.ts";

const github = senderOf("github");
const at = 1_700_000_000_000;

let hooks: HookServer | undefined;
let server: TestServer | undefined;
afterEach(async () => {
  await hooks?.close();
  await server?.close();
  hooks = undefined;
  server = undefined;
});

/** Pipelined on one connection; the statuses of all answers. */
async function pipeline(port: number, requests: readonly string[]): Promise<readonly number[]> {
  const { socket, write, ended } = await openSocket(port);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk as Buffer));
  // The last one closes the connection.
  const last = requests.at(-1) ?? "";
  write(requests.slice(0, -1).join("") + last.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  await ended();
  return parseAnswers(Buffer.concat(chunks)).answers.map(({ status }) => status);
}

const get = (path: string, token: string, from?: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ` +
  `${token}\r\n${from === undefined ? "" : `X-Forwarded-For: ${from}\r\n`}\r\n`;

const tally = (statuses: readonly number[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** A route for the holder of the hook token that needs no body: an unknown run is 404. */
const guess = (token: string, from?: string): string => get("/hooks/runs/none", token, from);

const startTrusted = async (options: Parameters<typeof startHooks>[0] = {}): Promise<HookServer> => {
  hooks = await startHooks({ ...options, gateway: { trustedProxies: ["127.0.0.1"] } });
  return hooks;
};

const githubAt = (path: string): object => ({
  enabled: true,
  action: "agent",
  body: "json",
  match: { path },
  messageTemplate: "x",
  signature: { scheme: "github", secret: github.secret },
});

describe("the hook token", () => {
  test("is compared for 200 of 5,000 guesses, and the right one after them is not accepted", async () => {
    const { port, setToken, log } = await startTrusted();
    setToken("4711");
    const guesses = Array.from({ length: 5_000 }, (_, number) => guess(String(number).padStart(4, "0"), "203.0.113.7"));
    expect(tally(await pipeline(port, guesses))).toEqual({ 401: 20, 429: 4_980 });
    expect(await pipeline(port, [guess("4711", "203.0.113.7"), guess("4711", "203.0.113.8")])).toEqual([429, 404]);
    expect(log.lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "hook requests with a wrong or missing token were refused",
      "hook authentication is refused for a client after repeated failures",
      "hook credentials of a client are no longer compared: it failed too often",
    ]);
  });

  test("is accepted up to the 200th failure and again when the window has ended", async () => {
    const { port, clock } = await startTrusted();
    const wrong = (count: number) => Array.from({ length: count }, () => guess("wrong", "203.0.113.7"));
    const right = guess(hookToken, "203.0.113.7");
    expect((await pipeline(port, [...wrong(199), right])).at(-1)).toBe(404);
    clock.at += 3_600_001;
    expect((await pipeline(port, [...wrong(200), right])).at(-1)).toBe(429);
    clock.at += 59_999;
    expect(await pipeline(port, [right])).toEqual([429]);
    clock.at += 1;
    expect(await pipeline(port, [right])).toEqual([404]);
  });

  test("stays accepted from a client that used it within the last hour, unless it was replaced", async () => {
    const { port, clock, setToken } = await startTrusted();
    const from = "203.0.113.7";
    const flood = async () =>
      pipeline(
        port,
        Array.from({ length: 300 }, () => guess("wrong", from)),
      );
    const serves = async (token = hookToken) => (await pipeline(port, [guess(token, from)]))[0];
    expect(await serves()).toBe(404);
    clock.at += 3_599_000;
    await flood();
    expect(await serves()).toBe(404);
    clock.at += 3_601_000;
    await flood();
    expect(await serves()).toBe(429);
    clock.at += 60_000;
    expect(await serves()).toBe(404);
    setToken("the-token-after-it");
    await flood();
    expect(await serves("the-token-after-it")).toBe(429);
  });

  test("is limited per /64 for an IPv6 client", async () => {
    const { port } = await startTrusted();
    const guesses = Array.from({ length: 300 }, (_, number) => guess("wrong", `2001:db8:0:7::${number.toString(16)}`));
    expect(tally(await pipeline(port, guesses))).toEqual({ 401: 20, 429: 280 });
    expect(
      await pipeline(port, [guess(hookToken, "2001:db8:0:7:ffff::1"), guess(hookToken, "2001:db8:0:8::1")]),
    ).toEqual([429, 404]);
  });
});

describe("signatures", () => {
  const signed = (path: string, sent = github.send({ at }), from = "203.0.113.7"): string =>
    `POST /hooks/${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: ` +
    `application/json\r\nX-Hub-Signature-256: ${sent.headers["x-hub-signature-256"]}\r\nContent-Length: ` +
    `${sent.body.length}\r\n\r\n${sent.body.toString("latin1")}`;
  const forged = { ...github.send({ at, body: "{}" }), headers: { "x-hub-signature-256": `sha256=${"0".repeat(64)}` } };
  const text = (value: string) => github.send({ at, body: `{"text":"${value}"}` });

  test("are not compared after 200 failures, except from a client with a valid one in the last hour", async () => {
    const { port } = await startTrusted({ hooks: { mappings: [githubAt("gh"), githubAt("other")] } });
    expect(await pipeline(port, [signed("gh", text("a"), "203.0.113.8")])).toEqual([202]);
    for (const from of ["203.0.113.7", "203.0.113.8"]) {
      const statuses = await pipeline(
        port,
        Array.from({ length: 300 }, () => signed("gh", forged, from)),
      );
      expect(tally(statuses)).toEqual({ 401: 20, 429: 280 });
    }
    expect(await pipeline(port, [signed("gh", text("b"), "203.0.113.7")])).toEqual([429]);
    expect(await pipeline(port, [signed("gh", text("b"), "203.0.113.8")])).toEqual([202]);
    // What was shown is the secret of one path.
    expect(await pipeline(port, [signed("other", forged, "203.0.113.8")])).toEqual([401]);
  });

  test("and the hook token have separate failure counts: success with one does not reset the other", async () => {
    const { port } = await startTrusted({ hooks: { mappings: [githubAt("gh")] } });
    const wrong = Array.from({ length: 199 }, () => guess("wrong", "203.0.113.7"));
    expect(tally(await pipeline(port, wrong))).toEqual({ 401: 20, 429: 179 });
    expect(await pipeline(port, [signed("gh", text("new")), guess("wrong", "203.0.113.7")])).toEqual([202, 429]);
    expect(await pipeline(port, [guess(hookToken, "203.0.113.7")])).toEqual([429]);
    const wrongSignatures = Array.from({ length: 199 }, () => signed("gh", forged, "203.0.113.9"));
    await pipeline(port, wrongSignatures);
    expect(await pipeline(port, [guess(hookToken, "203.0.113.9"), signed("gh", forged, "203.0.113.9")])).toEqual([
      404, 429,
    ]);
    expect(await pipeline(port, [signed("gh", text("not compared"), "203.0.113.9")])).toEqual([429]);
  });

  test("that are replayed neither reset the count nor exempt their client", async () => {
    const { port } = await startTrusted({ hooks: { mappings: [githubAt("gh")] } });
    const captured = text("captured");
    expect(await pipeline(port, [signed("gh", captured, "198.51.100.1")])).toEqual([202]);
    const wrong = (count: number) => Array.from({ length: count }, () => signed("gh", forged));
    await pipeline(port, wrong(30));
    expect(await pipeline(port, [signed("gh", captured), ...wrong(1)])).toEqual([202, 429]);
    await pipeline(port, wrong(169));
    expect(await pipeline(port, [signed("gh", captured), signed("gh", text("never seen"))])).toEqual([429, 429]);
  });
});

describe("management routes", () => {
  const deviceToken = "token-of-a-device-of-the-test";
  const clock = { at };
  const start = async (): Promise<number> => {
    server = await startServer(
      {
        elapsed: () => clock.at,
        gateway: { trustedProxies: ["127.0.0.1"] },
        deviceToken: async (token) => token === deviceToken,
      },
      (http) => {
        http.manage({ method: "GET", path: "/gateway/own", access: "gateway", handler: () => ({ body: {} }) });
        http.manage({ method: "GET", path: "/gateway/shared", access: "device", handler: () => ({ body: {} }) });
      },
    );
    return server.port;
  };
  const ask = (path: "own" | "shared", token: string, from = "203.0.113.7") => get(`/gateway/${path}`, token, from);

  test("reject even the right token after 200 failures, unless the client used it in the last hour", async () => {
    const port = await start();
    expect(await pipeline(port, [ask("own", gatewayToken, "203.0.113.8")])).toEqual([200]);
    for (const from of ["203.0.113.7", "203.0.113.8"]) {
      const guesses = Array.from({ length: 250 }, () => ask("own", "wrong", from));
      expect(tally(await pipeline(port, guesses))).toEqual({ 401: 20, 429: 230 });
    }
    const said = "wrong tokens of a client are refused for a while";
    expect(server?.log.lines.filter(({ message }) => message === said)).toHaveLength(4);
    expect(await pipeline(port, [ask("own", gatewayToken), ask("own", gatewayToken, "203.0.113.8")])).toEqual([
      429, 200,
    ]);
  });

  test("count concurrent guesses on a device route one by one", async () => {
    const port = await start();
    const statuses = await Promise.all(
      Array.from({ length: 400 }, (_, number) =>
        pipeline(port, [ask("shared", number === 300 ? gatewayToken : `wrong-${number}`)]),
      ),
    );
    const counts = tally(statuses.flat());
    expect(counts).toMatchObject({ 401: 20 });
    expect(counts[200] ?? 0).toBeLessThanOrEqual(1);
    expect(await pipeline(port, [ask("own", gatewayToken)])).toEqual(counts[200] === 1 ? [200] : [429]);
  });

  test("do not reset the gateway token's count for a device token, whose client is still served", async () => {
    const port = await start();
    expect(await pipeline(port, [ask("shared", deviceToken)])).toEqual([200]);
    const mixed = Array.from({ length: 199 }, () => [ask("shared", "wrong"), ask("shared", deviceToken)]).flat();
    expect(tally(await pipeline(port, mixed))).toEqual({ 200: 199, 401: 20, 429: 179 });
    expect(await pipeline(port, [ask("own", "wrong"), ask("own", gatewayToken), ask("shared", gatewayToken)])).toEqual([
      429, 429, 429,
    ]);
    expect(await pipeline(port, [ask("shared", deviceToken)])).toEqual([200]);
    expect(await pipeline(port, [ask("shared", deviceToken, "203.0.113.8")])).toEqual([200]);
  });
});
