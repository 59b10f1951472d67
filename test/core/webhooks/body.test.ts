import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HookServer, hookToken, openSocket, startHooks } from "../http/fixture.ts";

let hooks: HookServer;
beforeAll(async () => {
  hooks = await startHooks({ hooks: { maxBodyBytes: 1_000 } });
});
afterAll(() => hooks.close());

const head = (lines: readonly string[]): string =>
  `${["POST /hooks/wake HTTP/1.1", "Host: x", `Authorization: Bearer ${hookToken}`, "Content-Type: application/json", ...lines].join("\r\n")}\r\n\r\n`;

const bodyOf = (bytes: number): string => JSON.stringify({ text: "x".repeat(bytes - 11) });

describe("size", () => {
  test("a body of exactly the limit is accepted, one byte more is not", async () => {
    expect(bodyOf(1_000)).toHaveLength(1_000);
    expect((await hooks.post("wake", bodyOf(1_000))).status).toBe(200);
    expect((await hooks.post("wake", bodyOf(1_001))).status).toBe(413);
  });

  test("the limit also applies to a body without a declared length", async () => {
    for (const [bytes, status] of [
      [1_000, 200],
      [1_001, 413],
    ] as const) {
      const socket = await openSocket(hooks.port);
      const body = bodyOf(bytes);
      socket.write(head(["Transfer-Encoding: chunked", "Connection: close"]));
      for (let from = 0; from < body.length; from += 100) {
        const part = body.slice(from, from + 100);
        socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      }
      socket.write("0\r\n\r\n");
      expect((await socket.ended()).text).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
    }
  });

  test("a client that sends megabytes before reading still receives 413", async () => {
    const socket = await openSocket(hooks.port);
    socket.socket.pause();
    socket.write(head(["Content-Length: 3000000"]));
    await new Promise<void>((resolve) => socket.socket.write(Buffer.alloc(3_000_000, "x"), () => resolve()));
    socket.socket.resume();
    const { text, reset } = await socket.ended();
    expect(text).toMatch(/^HTTP\/1\.1 413/);
    expect(text).toContain('"code":"payload_too_large"');
    expect(text).toMatch(/connection: close/i);
    expect(reset).toBe(false);
  });

  test("the connection stays open after a 413 for a small body", async () => {
    const socket = await openSocket(hooks.port);
    socket.write(head(["Content-Length: 2000"]) + "x".repeat(2_000));
    await socket.until(/payload_too_large"\}/);
    socket.write(`${head(["Content-Length: 12", "Connection: close"])}{"text":"x"}`);
    expect((await socket.ended()).text).toContain("HTTP/1.1 200");
  });

  test("a client that never stops sending is disconnected", async () => {
    const socket = await openSocket(hooks.port);
    socket.write(head(["Content-Length: 1000000000"]));
    const feed = setInterval(() => socket.socket.writable && socket.socket.write(Buffer.alloc(1_000_000)), 5);
    const { text } = await socket.ended();
    clearInterval(feed);
    expect(text).toMatch(/^HTTP\/1\.1 413/);
  });

  test("a request without a token is answered before any byte of its body arrives", async () => {
    const socket = await openSocket(hooks.port);
    socket.write("POST /hooks/wake HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n");
    expect(await socket.until(/\}/)).toMatch(/^HTTP\/1\.1 401/);
    socket.socket.destroy();
  });

  test("a client with Expect: 100-continue may continue only if its headers are valid", async () => {
    const refused = await openSocket(hooks.port);
    refused.write("POST /hooks/wake HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n");
    const answer = await refused.until(/\}/);
    expect(answer).toMatch(/^HTTP\/1\.1 401/);
    refused.socket.destroy();
    const large = await openSocket(hooks.port);
    large.write(head(["Content-Length: 5000", "Expect: 100-continue"]));
    expect(await large.until(/\}/)).toMatch(/^HTTP\/1\.1 413/);
    large.socket.destroy();
    const good = await openSocket(hooks.port);
    good.write(head(["Content-Length: 12", "Expect: 100-continue", "Connection: close"]));
    expect(await good.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/);
    good.write('{"text":"x"}');
    expect((await good.ended()).text).toContain("HTTP/1.1 200");
  });
});

describe("time", () => {
  test("a body that arrives too slowly gets 408, and its sender is disconnected", async () => {
    const own = await startHooks({ server: { requestTimeoutMs: 200 } });
    const socket = await openSocket(own.port);
    socket.write(head(["Content-Length: 100"]));
    const drip = setInterval(() => socket.socket.writable && socket.socket.write(" "), 20);
    const { text } = await socket.ended();
    clearInterval(drip);
    expect(text).toMatch(/^HTTP\/1\.1 408/);
    expect(text).toContain('"code":"timeout"');
    expect(own.events).toHaveLength(0);
    await own.close();
  });

  // Tried again: the machine may do something else in such a moment.
  test("many slow senders do not delay others", { retry: 3 }, async () => {
    const own = await startHooks({ server: { requestTimeoutMs: 500 } });
    const slow = await Promise.all(Array.from({ length: 200 }, () => openSocket(own.port)));
    for (const { write } of slow) write(head(["Content-Length: 100"]));
    await sleep(50);
    const begin = performance.now();
    for (let count = 0; count < 20; count++) expect((await own.post("wake", { text: "x" })).status).toBe(200);
    expect((performance.now() - begin) / 20).toBeLessThan(250);
    const ends = await Promise.all(slow.map(({ ended }) => ended()));
    expect(ends.every(({ text }) => text.startsWith("HTTP/1.1 408"))).toBe(true);
    await own.close();
  });

  test("a body longer than declared does not take over the response of the previous request", async () => {
    const own = await startHooks({
      deps: {
        async accept() {
          await sleep(50);
          return { eventId: "e1", duplicate: false };
        },
      },
    });
    const socket = await openSocket(own.port);
    socket.write(`${head(["Content-Length: 12"])}{"text":"x"} and more that is no request\r\n\r\n`);
    const { text } = await socket.ended();
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(text).toMatch(/connection: close/i);
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await own.close();
  });

  test("a sender that disconnects halfway leaves no event behind", async () => {
    const before = hooks.events.length;
    const socket = await openSocket(hooks.port);
    socket.write(`${head(["Content-Length: 100"])}{"text"`);
    await sleep(20);
    socket.socket.destroy();
    expect((await hooks.post("wake", { text: "x" })).status).toBe(200);
    expect(hooks.events).toHaveLength(before + 1);
  });
});

describe("content", () => {
  const status = async (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<number> =>
    (await hooks.post("wake", body, headers)).status;

  test("application/json and any +json are accepted in UTF-8; a missing type means JSON", async () => {
    for (const type of [
      "application/json",
      "Application/JSON; charset=UTF-8",
      'application/json;charset="utf-8"',
      "application/cloudevents+json",
      "application/vnd.x.y+json ; v=1",
    ]) {
      expect(await status('{"text":"x"}', { "content-type": type }), type).toBe(200);
    }
    const socket = await openSocket(hooks.port);
    socket.write(
      `${head(["Content-Length: 12", "Connection: close"]).replace("Content-Type: application/json\r\n", "")}{"text":"x"}`,
    );
    expect((await socket.ended()).text).toMatch(/^HTTP\/1\.1 200/);
  });

  test("another type, charset or compression than gzip and deflate gets 415", async () => {
    for (const type of [
      "text/plain",
      "application/jsonp",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "json",
      "+json",
    ]) {
      expect(await status('{"text":"x"}', { "content-type": type }), type).toBe(415);
    }
    for (const coding of ["br", "zstd", "gzip, gzip", "x"])
      expect(await status('{"text":"x"}', { "content-encoding": coding }), coding).toBe(415);
  });

  test("a byte order mark is accepted, invalid UTF-8 is not", async () => {
    expect(await status('\ufeff{"text":"x"}')).toBe(200);
    expect(await status(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).toBe(400);
  });

  test("an empty body counts as an empty object", async () => {
    for (const body of ["", " \n"]) {
      expect((await hooks.post("wake", body)).json).toMatchObject({
        code: "invalid_payload",
        error: "text is required.",
      });
    }
  });

  test("a body that is not an object is rejected", async () => {
    for (const body of ["null", "5", '"text"', "[]", "true"]) {
      expect((await hooks.post("wake", body)).json, body).toMatchObject({ code: "invalid_payload" });
    }
  });

  test("64 levels of nesting are accepted, more are not", async () => {
    const nest = (depth: number): string => `{"text":"x","more":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(await status(nest(64))).toBe(200);
    expect(await status(nest(65))).toBe(400);
    const own = await startHooks();
    expect((await own.post("wake", "[".repeat(262_144))).status).toBe(400);
    expect((await own.post("wake", `${"[".repeat(131_072)}${"]".repeat(131_072)}`)).status).toBe(400);
    await own.close();
  });

  test("no key can reach a prototype", async () => {
    const body =
      '{"text":"x","__proto__":{"mode":"next-heartbeat","polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    expect((await hooks.post("wake", body)).json).toMatchObject({ ok: true, mode: "now" });
    expect((await hooks.post("wake", '{"__proto__":{"text":"x"}}')).status).toBe(400);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("an error never repeats the content of the request", async () => {
    const answer = await hooks.post("wake", "{private-data");
    expect(answer.text).not.toContain("private-data");
  });
});
