/** Clients that are slow, that lie, and that guess: each is cut or refused in time, and nobody else notices. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpServer } from "../../core/http/server.ts";
import { type HookServer, hookToken, openSocket, startHooks } from "../core/http/fixture.ts";
import { createWire, parseAnswers, renderRequest, type Wire, type WireAnswer } from "../support/wire.ts";
import { anotherClient, bearer, closeHookGateways, type HookGateway, jsonType, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const wakeBody = '{"text":"x"}';
const good = renderRequest({
  target: "/hooks/wake",
  headers: [["authorization", `Bearer ${hookToken}`], jsonType],
  body: wakeBody,
});
const head = (lines: readonly string[], target = "/hooks/wake"): string =>
  `${[`POST ${target} HTTP/1.1`, "Host: x", `Authorization: Bearer ${hookToken}`, "Content-Type: application/json", ...lines].join("\r\n")}\r\n\r\n`;

test("the default deadline is thirty seconds for a request and fifteen for its headers", async () => {
  const hooks = await startHooks();
  const { app, close } = createHttpServer({
    config: () => hooks.config,
    log: hooks.log,
    readiness: () => ({ ready: true, reasons: [] }),
    metrics: async () => "",
    gatewayToken: () => "x",
    elapsed: () => 0,
  });
  expect(app.server.requestTimeout).toBe(30_000);
  expect(app.server.headersTimeout).toBe(15_000);
  await close();
  await hooks.close();
});

describe("requests with contradictory framing", () => {
  let hooks: HookServer;
  beforeAll(async () => {
    hooks = await startHooks({ server: { requestTimeoutMs: 400 }, hooks: { maxBodyBytes: 1_000 } });
  });
  afterAll(() => hooks.close());

  /** Everything that came back, once the server ended the connection. */
  async function answersTo(bytes: string | Buffer): Promise<readonly WireAnswer[]> {
    const socket = await openSocket(hooks.port);
    socket.write(bytes);
    const { text } = await socket.ended();
    return parseAnswers(Buffer.from(text, "latin1")).answers;
  }

  const chunked = (...chunks: string[]): string => `${head(["Transfer-Encoding: chunked"])}${chunks.join("")}`;
  const refused: readonly (readonly [string, string, readonly number[]])[] = [
    ["a chunk whose length is no number", chunked("zz\r\n{}\r\n0\r\n\r\n"), [400]],
    ["a chunk with a negative length", chunked("-1\r\n{}\r\n0\r\n\r\n"), [400]],
    ["a chunk longer than 64 bits", chunked("fffffffffffffffff\r\n{}\r\n"), [400]],
    ["a chunk that says it is huge", chunked("ffffffff\r\n", "x".repeat(2_000)), [413]],
    ["a chunk that is longer than it says", chunked('2\r\n{"text":"x"}\r\n0\r\n\r\n'), [400]],
    ["a chunk that never comes", chunked("c\r\n{"), [408]],
    ["chunks without an end", chunked('c\r\n{"text":"x"}\r\n'), [408]],
    ["a chunk whose extension never ends", chunked(`1;${"x".repeat(40_000)}`), [400, 413]],
    ["trailers without an end", chunked('c\r\n{"text":"x"}\r\n0\r\n', "X-T: x\r\n".repeat(4_000)), [400, 408, 431]],
    [
      "a length and chunks",
      `${head(["Content-Length: 12", "Transfer-Encoding: chunked"])}c\r\n${wakeBody}\r\n0\r\n\r\n`,
      [400],
    ],
    ["chunks and a length", `${head(["Transfer-Encoding: chunked", "Content-Length: 4"])}0\r\n\r\n${good}`, [400]],
    ["an encoding that is not chunked", `${head(["Transfer-Encoding: gzip, chunked, identity"])}${wakeBody}`, [400]],
    ["an encoding that looks like chunked", `${head(["Transfer-Encoding: xchunked"])}0\r\n\r\n`, [400]],
    ["an encoding behind a control character", `${head(["Transfer-Encoding: \u000bchunked"])}0\r\n\r\n`, [400]],
    ["two lengths", `${head(["Content-Length: 12", "Content-Length: 13"])}${wakeBody}x`, [400]],
    ["two lengths in one line", `${head(["Content-Length: 12, 12"])}${wakeBody}`, [400]],
    ["a length with a sign", `${head(["Content-Length: +12"])}${wakeBody}`, [400]],
    ["a length in hexadecimal", `${head(["Content-Length: 0xc"])}${wakeBody}`, [400]],
    ["a length beyond every number", `${head([`Content-Length: ${"9".repeat(30)}`])}${wakeBody}`, [400]],
    ["a length beyond what is allowed", `${head(["Content-Length: 9007199254740993"])}${wakeBody}`, [413]],
    ["a length that is too long", `${head(["Content-Length: 20"])}${wakeBody}`, [408]],
    [
      "a header with a blank before its colon",
      `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nContent-Length : 0\r\n\r\n`,
      [400],
    ],
    ["a header that goes on in the next line", head(["X-A: b", " c: d", "Content-Length: 0"]), [400]],
    ["a NUL in a header", head(["X-A: b\u0000c", "Content-Length: 0"]), [400]],
    ["a bare line feed after a header", head(["X-A: b"]).replace("X-A: b\r\n", "X-A: b\nContent-Length: 0\r\n"), [400]],
    [
      "no Host",
      `POST /hooks/wake HTTP/1.1\r\nAuthorization: Bearer ${hookToken}\r\nContent-Length: 0\r\nConnection: ` +
        `close\r\n\r\n`,
      [400],
    ],
  ];

  test.each(refused)("%s is refused without creating an event", async (_name, bytes, statuses) => {
    const before = hooks.events.length;
    const answers = await answersTo(bytes);
    expect(answers).toHaveLength(1);
    expect(statuses).toContain(answers[0]?.status);
    expect(answers[0]?.json).toEqual({ ok: false, error: expect.stringMatching(/^\S.*\.$/), code: expect.any(String) });
    expect(hooks.events).toHaveLength(before);
  });

  test("a body with its declared length is accepted, and what follows is a separate request or nothing", async () => {
    const before = hooks.events.length;
    const smuggled = `${head(["Content-Length: 12"])}${wakeBody}GET /hooks/wake HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect((await answersTo(smuggled)).map(({ status }) => status)).toEqual([200, 405]);
    expect(hooks.events).toHaveLength(before + 1);
  });

  test("chunks with extensions and trailers are accepted like any others", async () => {
    const bytes = chunked('5;a=b\r\n{"tex\r\n', '7\r\nt":"x"}\r\n', "0\r\nX-Token: late\r\n\r\n");
    const socket = await openSocket(hooks.port);
    socket.write(bytes);
    expect(await socket.until(/eventId/)).toMatch(/^HTTP\/1\.1 200/);
    socket.socket.destroy();
  });

  test("a client with Expect: 100-continue is asked for its body only if it may send it", async () => {
    const ask = async (lines: readonly string[], target?: string): Promise<string> => {
      const socket = await openSocket(hooks.port);
      socket.write(head([...lines, "Expect: 100-continue"], target));
      const text = await socket.until(/\r\n\r\n/);
      socket.socket.destroy();
      return text.split("\r\n")[0] ?? "";
    };
    expect(await ask(["Content-Length: 12"])).toBe("HTTP/1.1 100 Continue");
    expect(await ask(["Content-Length: 1001"])).toBe("HTTP/1.1 413 Payload Too Large");
    expect(await ask(["Content-Length: 12", "Content-Encoding: br"])).toBe("HTTP/1.1 415 Unsupported Media Type");
    expect(await ask(["Content-Length: 12"], "/hooks/")).toBe("HTTP/1.1 404 Not Found");
    expect(await ask(["Content-Length: 12"], "/hooks/wake?token=1")).toBe("HTTP/1.1 400 Bad Request");
  });

  test("an unknown expectation is ignored, and the request is checked like any other", async () => {
    const before = hooks.events.length;
    const answers = await answersTo(
      `${head(["Expect: 200-maybe", "Content-Length: 12", "Connection: close"])}${wakeBody}`,
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(hooks.events).toHaveLength(before + 1);
    const stranger =
      `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\nContent-Length: ` +
      `0\r\nConnection: close\r\n\r\n`;
    expect((await answersTo(stranger)).map(({ status }) => status)).toEqual([401]);
  });

  test("a protocol upgrade is not performed and does not bypass the token", async () => {
    const socket = await openSocket(hooks.port);
    socket.write(
      "POST /hooks/wake HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n",
    );
    expect(await socket.until(/\}/)).toMatch(/^HTTP\/1\.1 401/);
    socket.socket.destroy();
    const tunnel = await openSocket(hooks.port);
    tunnel.write(`CONNECT 127.0.0.1:${hooks.port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await tunnel.ended()).text).not.toMatch(/^HTTP\/1\.1 2/);
  });

  test("the gateway still responds normally after all of that", async () => {
    expect((await hooks.post("wake", { text: "x" })).status).toBe(200);
  });
});

describe("a signed path, where the body must be read to verify the sender", () => {
  const secret = "the-secret-of-the-sender";
  const path = "/hooks/signed";
  let room: HookGateway;
  beforeAll(async () => {
    room = await startHookGateway({
      hooks: {
        maxBodyBytes: 1_000,
        mappings: [
          {
            match: { path: "signed" },
            action: "wake",
            wakeMode: "next-heartbeat",
            textTemplate: "{{payload}}",
            signature: { scheme: "hmac", header: "x-signature", secret },
          },
        ],
      },
    });
  });
  const sign = (body: string) => ["x-signature", createHmac("sha256", secret).update(body).digest("hex")] as const;
  const unfinished = async (client: readonly [string, string]) => {
    const socket = await openSocket(room.port);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${client[0]}: ${client[1]}\r\nContent-Length: 500\r\n\r\n{`);
    return socket;
  };

  test("limits the pending bodies of an unverified client without effect on others, releases them all", async () => {
    const client = anotherClient();
    const sockets = await Promise.all(Array.from({ length: 100 }, () => unfinished(client)));
    const refused: string[] = [];
    for (const { until } of sockets) void until(/\}/).then((text) => refused.push(text));
    await expect.poll(() => refused.length).toBeGreaterThan(20);
    expect(refused.every((text) => text.startsWith("HTTP/1.1 429") && /retry-after: \d/i.test(text))).toBe(true);
    const good = { target: path, headers: [sign(wakeBody), jsonType, anotherClient()] as const, body: wakeBody };
    expect((await room.send(good)).status).toBe(200);
    for (const { socket } of sockets) socket.destroy();
    await expect
      .poll(async () => (await room.send({ ...good, headers: [sign(wakeBody), jsonType, client] })).status, {
        interval: 20,
      })
      .toBe(200);
  });

  test("answers 413 to a body that is too large before it arrives", async () => {
    const answer = await room.send({
      target: path,
      headers: [sign("x"), jsonType, ["x-y", "z"]],
      body: "x".repeat(1_001),
    });
    expect(answer.status).toBe(413);
  });

  test("answers 401 to twenty of many simultaneous wrong signatures, and still serves a valid one", async () => {
    const client = anotherClient();
    const wires = Array.from({ length: 49 }, () => createWire(room.port));
    const send = (wire: Wire, signature: readonly [string, string]) =>
      wire.exchange(renderRequest({ target: path, headers: [signature, jsonType, client], body: wakeBody }));
    const statuses = await Promise.all(
      wires.map(async (wire) => {
        const all: number[] = [];
        for (let count = 0; count < 4; count += 1) all.push((await send(wire, ["x-signature", "0".repeat(64)])).status);
        wire.close();
        return all;
      }),
    );
    expect([401, 429].map((status) => statuses.flat().filter((one) => one === status).length)).toEqual([20, 176]);
    expect(
      (await room.send({ target: path, headers: [sign(wakeBody), jsonType, client], body: wakeBody })).status,
    ).toBe(200);
  });

  test("counts wrong tokens and wrong signatures together", async () => {
    const client = anotherClient();
    for (let count = 0; count < 10; count += 1) {
      await room.send({ target: path, headers: [["x-signature", "x"], jsonType, client], body: wakeBody });
      await room.send({ target: "/hooks/wake", headers: [client], body: wakeBody });
    }
    expect((await room.send({ target: "/hooks/wake", headers: [client], body: wakeBody })).status).toBe(429);
    expect((await room.send({ target: path, headers: [jsonType, client], body: wakeBody })).status).toBe(429);
  });
});

describe("guessed credentials", () => {
  let room: HookGateway;
  beforeAll(async () => {
    room = await startHookGateway({});
  });

  test("of every type, two hundred at once on as many sockets, are checked twenty times", async () => {
    const client = anotherClient();
    const kinds = [
      ["authorization", "Bearer wrong"],
      ["x-service-token", "wrong"],
      ["authorization", "Basic d3Jvbmc="],
      ["cookie", "token=wrong"],
    ] as const;
    const wires = Array.from({ length: 200 }, () => createWire(room.port));
    const statuses = await Promise.all(
      wires.map(async (wire, index) => {
        const kind = kinds[index % kinds.length] ?? kinds[0];
        const { status } = await wire.exchange(
          renderRequest({ target: "/hooks/agent", headers: [kind, client], body: wakeBody }),
        );
        wire.close();
        return status;
      }),
    );
    expect([401, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([20, 180]);
  });

  test.each([
    [199, 200],
    [200, 429],
  ])(
    "%i in one packet of one socket: twenty get 401, and the correct token after them gets %i",
    async (wrong, last) => {
      const client = anotherClient();
      const guess = renderRequest({
        target: "/hooks/wake",
        headers: [["authorization", "Bearer wrong"], client],
        body: wakeBody,
      });
      const right = renderRequest({
        target: "/hooks/wake",
        headers: [bearer, jsonType, client, ["connection", "close"]],
        body: wakeBody,
      });
      const socket = await openSocket(room.port);
      socket.write(Buffer.concat([...Array.from({ length: wrong }, () => guess), right]));
      const statuses = [...(await socket.ended()).text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) =>
        Number(status),
      );
      expect(statuses).toEqual([...Array(20).fill(401), ...Array(wrong - 20).fill(429), last]);
    },
  );

  test("are answered while the body is still arriving, even if its declared size is large", async () => {
    for (const lines of [
      ["Content-Length: 1000000000"],
      ["Transfer-Encoding: chunked"],
      ["Content-Length: 5", "Expect: 100-continue"],
    ]) {
      const socket = await openSocket(room.port);
      socket.write(
        `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ` +
          `${anotherClient()[1]}\r\n${lines.join("\r\n")}\r\n\r\n`,
      );
      expect(await socket.until(/\}/)).toMatch(/^HTTP\/1\.1 401/);
      socket.socket.destroy();
    }
  });

  test("are counted only for requests that reach the token check", async () => {
    const client = anotherClient();
    for (let count = 0; count < 30; count += 1) {
      await room.send({ method: "GET", target: "/hooks/wake", headers: [client] });
      await room.send({ target: "/hooks/wake?token=x", headers: [client] });
      await room.send({ target: "/hooks/wake", headers: [client, ["origin", "http://a.example"]] });
      await room.send({ target: "/elsewhere", headers: [client] });
    }
    expect((await room.send({ target: "/hooks/wake", headers: [client], body: wakeBody })).status).toBe(401);
  });

  test("are counted for the last hop that no trusted proxy wrote, despite forged hops", async () => {
    const last = anotherClient()[1];
    const forged = (index: number) =>
      ["127.0.0.1", "::1", `10.9.${index}.1`, "not an address", "unknown, 10.1.1.1"][index % 5];
    for (let index = 0; index < 20; index += 1) {
      await room.send({
        target: "/hooks/wake",
        headers: [["x-forwarded-for", `${forged(index)}, ${last}, 127.0.0.1`]],
      });
    }
    const answer = await room.send({ target: "/hooks/wake", headers: [["x-forwarded-for", `8.8.8.8, ${last}`]] });
    expect(answer.status).toBe(429);
  });

  test("share one budget for a client in IPv4, in IPv4-mapped IPv6 and within one /64 of IPv6", async () => {
    const spend = async (addresses: readonly string[]): Promise<readonly number[]> => {
      const statuses: number[] = [];
      for (let count = 0; count < 21; count += 1) {
        const address = addresses[count % addresses.length] ?? "";
        statuses.push((await room.send({ target: "/hooks/wake", headers: [["x-forwarded-for", address]] })).status);
      }
      return statuses;
    };
    expect(
      (
        await spend([
          "203.0.113.9",
          "::ffff:203.0.113.9",
          "::FFFF:cb00:7109",
          "203.0.113.9:4711",
          "[::ffff:203.0.113.9]:1",
        ])
      ).at(-1),
    ).toBe(429);
    expect(
      (await spend(["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", "[2001:db8:1:2::7]:80", "2001:0db8:0001:0002::5"])).at(
        -1,
      ),
    ).toBe(429);
    expect((await spend(["2001:db8:1:3::1", "2001:db8:1:4::1"])).at(-1)).toBe(401);
  });
});
