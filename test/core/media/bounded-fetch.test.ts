/** Servers that send without an end, or very slowly, on real sockets. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { LimitedBody, ResponseLimitError } from "../../../core/media/body-limit.ts";
import { fetchLimited, fetchWhole } from "../../../core/media/bounded-fetch.ts";
import { createLineReader } from "../../../core/media/line-reader.ts";
import { costOf, slowness } from "../../support/cost.ts";

const megabyte = 1_048_576;

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<URL> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path?token=secret`);
}

/** Writes up to 1 GB as fast as the client takes it. Resolves with how much that was once the client has gone. */
function flood(piece: Buffer, headers: Readonly<Record<string, string>> = {}) {
  const { promise, resolve } = Promise.withResolvers<number>();
  return {
    sent: promise,
    answer(_request: IncomingMessage, response: ServerResponse): void {
      let size = 0;
      response.writeHead(200, headers);
      const more = (): void => {
        while (size < 1_024 * megabyte && !response.destroyed) {
          size += piece.length;
          if (!response.write(piece)) return void response.once("drain", more);
        }
        response.end();
      };
      response.once("close", () => resolve(size));
      more();
    },
  };
}

const letters = Buffer.alloc(65_536, "x");

test("a response within its limits is read completely, with any status", async () => {
  const url = await serve((_request, response) => response.writeHead(418, { "x-kind": "teapot" }).end("ünïcode"));
  const found = await fetchWhole(url, { maxBytes: 9, timeoutMs: 5_000 });
  expect(found).toMatchObject({ status: 418, ok: false, text: "ünïcode" });
  expect(found.headers.get("x-kind")).toBe("teapot");
  expect(found.bytes.length).toBe(9);
});

test("an endless body is cut at its limit: the connection closes; the error names only host and limit", async () => {
  const { answer, sent } = flood(letters);
  const url = await serve(answer);
  const before = process.memoryUsage().rss;
  const failure = await fetchWhole(url, { maxBytes: 100_000, timeoutMs: 30_000 }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ResponseLimitError);
  expect(failure).toMatchObject({
    host: url.host,
    limit: "bytes",
    message: `${url.host} sent more than 98 kB in one response`,
  });
  // What the sockets of both sides hold.
  expect(await sent).toBeLessThan(20 * megabyte);
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * megabyte);
});

test("the limit applies to the decompressed body", async () => {
  const packed = gzipSync(Buffer.alloc(20 * megabyte));
  const url = await serve((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(packed));
  expect(packed.length).toBeLessThan(50_000);
  await expect(fetchWhole(url, { maxBytes: 100_000, timeoutMs: 30_000 })).rejects.toThrow(ResponseLimitError);
});

test("a response that is too slow or never arrives ends at its time limit", async () => {
  const dripping = await serve((_request, response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.once("close", () => clearInterval(timer));
  });
  const silent = await serve(() => {});
  for (const url of [dripping, silent])
    await expect(fetchWhole(url, { maxBytes: 100_000, timeoutMs: 200 })).rejects.toMatchObject({
      limit: "time",
      host: url.host,
    });
});

test("a request that its caller aborts fails with the caller's reason", async () => {
  const url = await serve(() => {});
  const stop = new AbortController();
  const asked = fetchWhole(url, { maxBytes: 1_000, timeoutMs: 10_000, signal: stop.signal });
  stop.abort(new Error("closing"));
  await expect(asked).rejects.toThrow("closing");
});

test("credentials do not follow a redirect, unless the caller says so", async () => {
  const url = await serve((_request, response) => response.writeHead(302, { location: "/elsewhere" }).end());
  await expect(fetchWhole(url, { maxBytes: 1_000, timeoutMs: 5_000 })).rejects.toThrow();
  expect(await fetchWhole(url, { maxBytes: 1_000, timeoutMs: 5_000, redirect: "manual" })).toMatchObject({
    status: 302,
  });
});

test("a library that reads a response itself gets at most the limit and the caller's error", async () => {
  const { answer, sent } = flood(letters);
  const response = await fetchLimited(
    await serve(answer),
    {},
    { maxBytes: 100_000, fault: (host) => new Error(`too much of ${host}`) },
  );
  await expect(new Response(response.body).arrayBuffer()).rejects.toThrow(/^too much of 127\.0\.0\.1:\d+$/);
  expect(await sent).toBeLessThan(20 * megabyte);
});

test.each(["\n", "\r\n", "\r"])(
  "an event stream may continue, with the limit applied to each event; lines end with %j",
  async (end) => {
    const event = `data: ${"x".repeat(60_000)}${end}${end}`;
    const headers = { "content-type": "text/event-stream; charset=utf-8" };
    const many = await serve((_request, response) => {
      response.writeHead(200, headers);
      // In pieces that fall between the two line ends, too.
      for (let count = 0; count < 20; count += 1) {
        response.write(event.slice(0, -end.length));
        response.write(end);
      }
      response.end();
    });
    const limits = { maxBytes: 150_000 };
    expect((await new Response((await fetchLimited(many, {}, limits)).body).text()).length).toBe(20 * event.length);
    const { answer } = flood(Buffer.from(`data: x${end}`.repeat(1_000)), headers);
    const endless = await fetchLimited(await serve(answer), {}, limits);
    await expect(new Response(endless.body).text()).rejects.toThrow(ResponseLimitError);
  },
);

test("a body discards its content once it is too large", () => {
  const body = new LimitedBody(5);
  expect([body.add(Buffer.from("abc")), body.add(Buffer.from("de"))]).toEqual([true, true]);
  expect(body.bytes().toString()).toBe("abcde");
  expect(body.add(Buffer.from("f"))).toBe(false);
  expect(body.bytes()).toHaveLength(0);
  expect(new LimitedBody(5).bytes()).toHaveLength(0);
});

test("lines are the same however the text is split into chunks", () => {
  const text = "one\n\ntwo\r\nthree \u{1F600}\n\nlast";
  for (let size = 1; size <= text.length; size += 1) {
    const lines: string[] = [];
    const read = createLineReader((line) => lines.push(line), {
      maxChars: 100,
      onTooLong: () => lines.push("too long"),
    });
    for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size));
    expect(lines).toEqual(text.split("\n").slice(0, -1));
  }
});

test("an overlong line is reported once, whether or not it ends, and nothing after it is read", () => {
  for (const rest of ["", "\nnext\n"]) {
    const seen: string[] = [];
    const read = createLineReader((line) => seen.push(line), { maxChars: 10, onTooLong: () => seen.push("too long") });
    for (const piece of ["0123456789\n", "01234", "567890", rest, "more\n"]) read(piece);
    expect(seen).toEqual(["0123456789", "too long"]);
  }
});

test("reading a line of 31 MB in chunks of 4 kB takes linear time", async () => {
  let length = 0;
  const read = createLineReader((line) => (length = line.length), { maxChars: 32 * megabyte, onTooLong: () => {} });
  const piece = "x".repeat(4_096);
  const cost = await costOf(() => {
    for (let count = 0; count < 31 * 256; count += 1) read(piece);
    read("\n");
  });
  expect(length).toBe(31 * megabyte);
  expect(cost).toBeLessThan(300 * (await slowness()));
});
