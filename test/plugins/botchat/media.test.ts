import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InboundMedia } from "service-gateway/sdk";
import { ChannelError, saveMedia } from "service-gateway/sdk/channel";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTransport, type TransportOptions } from "../../../plugins/botchat/wire/transport.ts";
import { WireError } from "../../../plugins/botchat/wire/wire.ts";
import { callsOf, never, openPlatform, start, token } from "./platform.ts";

const megabyte = 1024 * 1024;
const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(1_000, 7)]);

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "media-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function wire(options: TransportOptions = {}) {
  const transport = createTransport(options);
  onTestFinished(() => transport.close());
  return transport;
}

async function failure(promise: Promise<unknown>): Promise<WireError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(WireError);
  return thrown as WireError;
}

describe("a download", () => {
  const into = (directory: string, maxBytes = megabyte) => ({
    maxBytes,
    save: (pieces: AsyncIterable<Uint8Array>) => saveMedia(pieces, { directory, maxBytes }),
  });
  const filesIn = (directory: string) =>
    existsSync(join(directory, "media")) ? readdirSync(join(directory, "media")) : [];

  test("is streamed to a private file", async () => {
    const content = Buffer.alloc(3 * megabyte, "abc");
    const url = await serve((_request, response) => response.end(content));
    const got = await wire().download(url, { ...into(folder(), 4 * megabyte), timeoutMs: 10_000 });
    expect([got.size, got.mimeType]).toEqual([content.length, "text/plain"]);
    expect(readFileSync(got.path).equals(content)).toBe(true);
    expect(statSync(got.path).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["says it is too large", { "content-length": 2 * megabyte }],
    ["turns out to be too large", {}],
  ])("that %s is aborted and leaves no file", async (_name, headers) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, headers);
      response.write(Buffer.alloc(megabyte + 1));
    });
    const directory = folder();
    const error = await failure(wire().download(url, { ...into(directory), timeoutMs: 10_000 }));
    expect(error.code).toBe("TOO_LARGE");
    expect(filesIn(directory)).toEqual([]);
  });

  test.each<[string, string | RegExp, RequestListener]>([
    [
      "breaks in the middle",
      /RESET|SOCKET|CLOSED/,
      (_request, response) => response.write(Buffer.alloc(1_000), () => response.destroy()),
    ],
    [
      "ends before its length",
      /SOCKET|CLOSED|RESET|MISMATCH/,
      (_request, response) => {
        response.writeHead(200, { "content-length": 2_000 });
        response.write(Buffer.alloc(1_000), () => response.socket?.end());
      },
    ],
    [
      "drips without an end",
      "TIMEOUT",
      (_request, response) => {
        const timer = setInterval(() => response.write("x"), 10);
        response.once("close", () => clearInterval(timer));
      },
    ],
    ["is never answered", /TIMEOUT/, () => {}],
    ["is missing", "STATUS_404", (_request, response) => response.writeHead(404).end("no")],
    [
      "is somewhere else",
      "STATUS_302",
      (_request, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    ],
  ])("that %s fails and leaves no file", async (_name, code, listener) => {
    const url = await serve(listener);
    const directory = folder();
    const error = await failure(wire().download(`${url}/secret`, { ...into(directory), timeoutMs: 300 }));
    expect(error.code).toMatch(code);
    expect(String(error)).not.toContain("secret");
    expect(filesIn(directory)).toEqual([]);
  });

  test("that is empty is refused and leaves no file", async () => {
    const url = await serve((_request, response) => response.end());
    const directory = folder();
    const empty = wire().download(url, { ...into(directory), timeoutMs: 5_000 });
    await expect(empty).rejects.toMatchObject({ reason: "media_refused", message: "the file is empty" });
    expect(filesIn(directory)).toEqual([]);
  });

  test("uses the proxy like every call", async () => {
    const asked: string[] = [];
    const proxy = await serve((request, response) => {
      asked.push(new URL(request.url ?? "").host);
      response.end("by way of the proxy");
    });
    const { size } = await wire({ proxy }).download("http://files.invalid:8081/a", {
      ...into(folder()),
      timeoutMs: 5_000,
    });
    expect(size).toBe(19);
    expect(asked).toEqual(["files.invalid:8081"]);
  });

  test("ends when its signal aborts", async () => {
    const url = await serve((_request, response) => response.write("x"));
    const stop = new AbortController();
    const directory = folder();
    const running = failure(wire().download(url, { ...into(directory, 10), timeoutMs: 5_000, signal: stop.signal }));
    setTimeout(() => stop.abort(), 50);
    expect((await running).code).toBe("ABORTED");
    expect(filesIn(directory)).toEqual([]);
  });
});

describe("a file of a message", () => {
  const how = { maxBytes: 5 * megabyte, signal: never };

  async function sent(bytes: Buffer, options: object = {}) {
    const platform = await openPlatform();
    const started = await start(
      { retry: { attempts: 2, minDelayMs: 5, maxDelayMs: 10, jitter: 0 }, ...options },
      { platform },
    );
    const kept = platform.files.add("document", { bytes, fileName: "a.exe", mimeType: "application/x-msdownload" });
    const media: InboundMedia = {
      kind: "document",
      ref: kept.id,
      mimeType: "application/x-msdownload",
      fileName: "../../a.exe",
    };
    const fetchMedia = started.connection.fetchMedia;
    if (fetchMedia === undefined) throw new Error("the channel fetches no media");
    return { ...started, media, fetchMedia };
  }

  test("is stored in the account's directory under a random name, with the type of its content", async () => {
    const { fetchMedia, media, account } = await sent(png);
    const [one, two] = [await fetchMedia(media, how), await fetchMedia(media, how)];
    expect(one).toMatchObject({ mimeType: "image/png", size: png.length });
    expect(one.path).toMatch(/\/media\/[0-9a-f]{32}\.png$/);
    expect(one.path.startsWith(account.account.directory)).toBe(true);
    expect(two.path).not.toBe(one.path);
    expect(readFileSync(one.path).equals(png)).toBe(true);
    expect(statSync(join(account.account.directory, "media")).mode & 0o777).toBe(0o700);
  });

  test("that the platform reports as too large is not requested", async () => {
    const { fetchMedia, media, platform } = await sent(png);
    await expect(fetchMedia({ ...media, size: 7 * megabyte }, how)).rejects.toThrow(
      "the file is too large: 7.0 MB, at most 5.0 MB",
    );
    expect(callsOf(platform, "getFile")).toEqual([]);
  });

  test("that turns out to be too large is not stored", async () => {
    const { fetchMedia, media, account } = await sent(png);
    await expect(fetchMedia(media, { ...how, maxBytes: 100 })).rejects.toThrow(/too large/);
    expect(
      readdirSync(account.account.directory).includes("media")
        ? readdirSync(join(account.account.directory, "media"))
        : [],
    ).toEqual([]);
  });

  test("is requested again after a temporary failure, but not after a permanent one", async () => {
    const { fetchMedia, media, platform } = await sent(png);
    platform.faults.add({ method: "getFile", times: 1, kind: "status", status: 502 });
    expect((await fetchMedia(media, how)).mimeType).toBe("image/png");
    expect(callsOf(platform, "getFile")).toHaveLength(2);
    await expect(fetchMedia({ ...media, ref: "nowhere" }, how)).rejects.toThrow(ChannelError);
    expect(callsOf(platform, "getFile")).toHaveLength(3);
  });

  test("that never arrives fails in time with an error that contains no token", async () => {
    const { fetchMedia, media, platform } = await sent(png, {
      timeoutSeconds: 1,
      retry: { attempts: 1, minDelayMs: 1, maxDelayMs: 1, jitter: 0 },
    });
    platform.faults.add({ method: "getFile", times: 1, kind: "drop" });
    const thrown = await fetchMedia(media, how).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ChannelError);
    expect(JSON.stringify(thrown) + String(thrown)).not.toContain(token);
  });
});
