/**
 * The guarded fetch against real servers on this machine; `connect` stands in for the world, so that a public address
 * leads to them.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, createServer as createPlainServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createGuardedFetch, type FetchLimits, type GuardedFetchOptions } from "../../../core/media/guarded-fetch.ts";
import { createCertificate, trust } from "../../plugins/botchat/certificate.ts";

const limits: FetchLimits = {
  maxBytes: 100_000,
  totalMs: 20_000,
  quietMs: 5_000,
  leastBytesPerSecond: 1_024,
  redirects: 3,
};
const directory = mkdtempSync(join(tmpdir(), "guarded-fetch-"));
const publicly = "93.184.215.14";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const asked: IncomingMessage[] = [];
let handler: Handler = () => {};
const server = createServer((request, response) => {
  asked.push(request);
  handler(request, response);
});
const portOf = (one: { address(): unknown }) => (one.address() as AddressInfo).port;

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterEach(() => {
  asked.length = 0;
  const left = readdirSync(directory);
  for (const name of left) rmSync(join(directory, name));
  expect(left, "files left").toEqual([]);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

interface World extends GuardedFetchOptions {
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
  readonly limits?: Partial<FetchLimits>;
  readonly signal?: AbortSignal;
  readonly port?: number;
}

function open(world: World = {}) {
  const looked: string[] = [];
  const connected: string[] = [];
  const sockets: Socket[] = [];
  const fetch = createGuardedFetch({
    async lookup(host) {
      looked.push(host);
      return world.hosts?.[host] ?? [publicly];
    },
    connect({ address, port }) {
      connected.push(`${address} ${port}`);
      const socket = connect(world.port ?? portOf(server), "127.0.0.1");
      sockets.push(socket);
      return socket;
    },
    ...(world.lookup && { lookup: world.lookup }),
  });
  const path = join(directory, "file");
  const get = (url: string) =>
    fetch(url, { path, limits: { ...limits, ...world.limits }, signal: world.signal ?? new AbortController().signal });
  return { get, looked, connected, sockets, path };
}

async function refused(
  url: string,
  world: World = {},
): Promise<{ reason: string; message: string; connected: readonly string[] }> {
  const { get, connected, sockets } = open(world);
  const error = await get(url).then(
    () => ({ reason: "fetched", message: "" }),
    (thrown: { reason: string; message: string }) => thrown,
  );
  expect(sockets.every((socket) => socket.destroyed)).toBe(true);
  return { reason: error.reason, message: error.message, connected };
}

const say =
  (body: string | Buffer, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response.writeHead(200, headers).end(body);
const leadTo =
  (...locations: readonly string[]): Handler =>
  (_request, response) => {
    const location = locations[asked.length - 1];
    if (location === undefined) say("there")(_request, response);
    else response.writeHead(302, { location, "set-cookie": "a=b" }).end("moved");
  };

describe("a public address", () => {
  test("is fetched to an owner-only file, with no extra data in the request", async () => {
    handler = say("hello", { "content-type": "text/plain; charset=utf-8" });
    const { get, looked, connected, path } = open();
    const fetched = await get("http://Example.COM./a/b?c=d#e");
    expect(fetched).toEqual({ path, size: 5, head: Buffer.from("hello"), declaredType: "text/plain" });
    expect(readFileSync(path, "utf8")).toBe("hello");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([looked, connected]).toEqual([["example.com"], [`${publicly} 80`]]);
    expect(asked[0]?.url).toBe("/a/b?c=d");
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual(["accept", "connection", "host", "user-agent"]);
    rmSync(path);
  });

  test("of a host is tried after one that refuses the connection, IPv4 first", async () => {
    handler = say("hello");
    const tried: string[] = [];
    const fetch = createGuardedFetch({
      lookup: async () => ["2606:2800:21f:cb07::1", "93.184.215.15", publicly],
      connect({ address }) {
        tried.push(address);
        return connect(address === publicly ? portOf(server) : 1, "127.0.0.1");
      },
    });
    const path = join(directory, "file");
    await fetch("http://example.com/", { path, limits, signal: new AbortController().signal });
    expect(tried).toEqual(["93.184.215.15", publicly]);
    rmSync(path);
  });

  test("may redirect three times, also to a relative address; each is looked up again, without cookies", async () => {
    handler = leadTo("https-not://", "x");
    expect((await refused("http://a.example/")).reason).toBe("media_refused");
    handler = leadTo("/two", "http://b.example/three", "//c.example/four");
    const { get, looked, path } = open();
    asked.length = 0;
    await get("http://a.example/one");
    expect(looked).toEqual(["a.example", "a.example", "b.example", "c.example"]);
    expect(
      asked.map(({ url, headers }) => `${headers.host}${url} ${headers.cookie ?? headers.referer ?? "-"}`),
    ).toEqual(["a.example/one -", "a.example/two -", "b.example/three -", "c.example/four -"]);
    rmSync(path);
    asked.length = 0;
    handler = leadTo("/2", "/3", "/4", "/5");
    expect(await refused("http://a.example/1")).toMatchObject({
      reason: "media_refused",
      message: "a.example leads on more than 3 times",
    });
  });

  test("over TLS is trusted only with a certificate for its name", async () => {
    const certificate = createCertificate("files.example");
    const secure = createSecureServer(certificate, (_request, response) => response.end("secret"));
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void secure.close());
    expect((await refused("https://files.example/", { port: portOf(secure) })).reason).toBe("media_unreachable");
    trust(certificate);
    expect((await refused("https://other.example/", { port: portOf(secure) })).message).toContain(
      "ERR_TLS_CERT_ALTNAME_INVALID",
    );
    const { get, path, connected } = open({ port: portOf(secure) });
    expect((await get("https://files.example/")).size).toBe(6);
    expect(connected).toEqual([`${publicly} 443`]);
    rmSync(path);
  });
});

describe("the gateway never connects to an address that is not public", () => {
  test.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://127.0.0.1./",
    "http://１２７.0.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[fd00::1]:8080/",
    "http://0/",
  ])("%s", async (url) => expect(await refused(url)).toMatchObject({ reason: "address_not_public", connected: [] }));

  test.each([
    ["localhost", ["127.0.0.1"]],
    ["localhost.", ["::1"]],
    ["LOCALHOST", ["127.0.0.1"]],
    ["inside.example", ["10.0.0.5"]],
    ["half.example", [publicly, "10.0.0.5"]],
    ["half6.example", ["2606:2800:21f:cb07::1", "fe80::1"]],
    ["zone.example", ["fe80::1%eth0"]],
    ["junk.example", ["nowhere"]],
  ])("%s, which is %s", async (host, addresses) => {
    const hosts = { [host.toLowerCase().replace(/\.$/, "")]: addresses };
    expect(await refused(`http://${host}/`, { hosts })).toMatchObject({ reason: "address_not_public", connected: [] });
  });

  test("the error gives the host, the address, its block and what to do", async () => {
    const { message } = await refused("http://inside.example/?token=secret", {
      hosts: { "inside.example": ["10.0.0.5"] },
    });
    expect(message).toBe(
      "inside.example is 10.0.0.5, an address of a private network (10.0.0.0/8): only public addresses are " +
        "fetched; put the file into the workspace and name its path",
    );
  });

  test("a redirect from a public address makes no exception", async () => {
    for (const location of ["http://127.0.0.1:1/", "http://inside.example/", "//[::1]/", "http://0x7f.1/"]) {
      asked.length = 0;
      handler = leadTo(location);
      const found = await refused("http://a.example/", { hosts: { "inside.example": ["192.168.1.1"] } });
      expect(found).toMatchObject({ reason: "address_not_public", connected: [`${publicly} 80`] });
    }
  });

  test("a name that resolves differently after the check does not change the connection's target", async () => {
    handler = say("hello");
    let times = 0;
    const { get, connected, path } = open({ lookup: async () => (times++ === 0 ? [publicly] : ["127.0.0.1"]) });
    await get("http://rebound.example/");
    expect([times, connected]).toEqual([1, [`${publicly} 80`]]);
    rmSync(path);
    times = 0;
    asked.length = 0;
    handler = leadTo("http://rebound.example/again");
    const again = await refused("http://rebound.example/", {
      lookup: async () => (times++ === 0 ? [publicly] : ["127.0.0.1"]),
    });
    expect(again).toMatchObject({ reason: "address_not_public" });
  });

  test("a host without an address is reported as unknown", async () => {
    expect((await refused("http://none.example/", { lookup: async () => [] })).reason).toBe("host_unknown");
    const fails = async () => Promise.reject(new Error("ENOTFOUND"));
    expect((await refused("http://none.example/", { lookup: fails })).reason).toBe("host_unknown");
  });
});

describe("an address that is not a plain web address is not fetched", () => {
  test.each([
    "file:///etc/passwd",
    "ftp://example.com/a",
    "data:text/plain,hello",
    "gopher://example.com/",
    "javascript:alert(1)",
    "http://user@example.com/",
    "http://user:word@example.com/",
    "not an address",
    "",
    "http://",
    "http://.../",
  ])("%j", async (url) => expect(await refused(url)).toMatchObject({ reason: "media_refused", connected: [] }));

  test.each(["file:///etc/passwd", "http://a:b@example.com/"])("after a redirect: %s", async (location) => {
    handler = leadTo(location);
    expect(await refused("http://a.example/")).toMatchObject({ reason: "media_refused" });
  });
});

describe("limits", () => {
  test("a file declared too large is not read, an undeclared one is cut off, and nothing remains", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    handler = (_request, response) => {
      response.writeHead(200, { "content-length": String(10 * 1024 ** 3) });
      response.flushHeaders();
      response.on("close", resolve);
    };
    expect(await refused("http://a.example/")).toMatchObject({
      reason: "too_large",
      message: "the file is too large: at most 98 kB",
    });
    await gone;
    let sent = 0;
    handler = (_request, response) => {
      // Ten gigabytes, as fast as they are taken.
      const piece = Buffer.alloc(65_536);
      const more = () => {
        while (!response.destroyed && sent < 10 * 1024 ** 3) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once("drain", more);
        }
      };
      more();
    };
    expect((await refused("http://a.example/")).reason).toBe("too_large");
    expect(sent).toBeLessThan(50_000_000);
  });

  test("a file of exactly the limit is accepted, one byte more is not", async () => {
    handler = say(Buffer.alloc(100_000, 1));
    const { get, path } = open();
    expect((await get("http://a.example/")).size).toBe(100_000);
    rmSync(path);
    handler = (_request, response) => {
      response.write(Buffer.alloc(100_000, 1));
      response.end("x");
    };
    expect((await refused("http://a.example/")).reason).toBe("too_large");
  });

  test.each([
    ["a body that drips", { quietMs: 300 }, "the server sends too slowly"],
    ["all of it together", { totalMs: 400 }, "it did not arrive within 1 s"],
  ])("%s is cut off", async (_name, more, message) => {
    handler = (_request, response) => {
      response.writeHead(200).write("x");
      const timer = setInterval(() => response.write("x"), 50);
      response.on("close", () => clearInterval(timer));
    };
    expect(await refused("http://a.example/", { limits: more })).toMatchObject({
      reason: "media_unreachable",
      message,
    });
  });

  test.each([
    [
      "a head that drips",
      (socket: Socket) => {
        for (const [at, each] of [..."HTTP/1.1 200 OK\r\nx-long: "].entries())
          setTimeout(() => socket.write(each), at * 50);
      },
    ],
    ["a server that sends nothing", () => {}],
    [
      "a server that switches protocols",
      (socket: Socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    ],
  ])("%s is cut off", async (_name, talk) => {
    const sockets: Socket[] = [];
    const silent = createPlainServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      talk(socket);
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const found = await refused("http://a.example/", { port: portOf(silent), limits: { quietMs: 300 } });
    expect(found).toMatchObject({
      reason: "media_unreachable",
      message: expect.stringMatching(/sent nothing for 1 s|closed the connection/),
    });
  });

  test("the fetch does not wait for a name server that does not respond", async () => {
    const never = () => new Promise<readonly string[]>(() => {});
    expect((await refused("http://a.example/", { lookup: never, limits: { totalMs: 200 } })).reason).toBe(
      "media_unreachable",
    );
  });

  test("a caller may abort the fetch, before or during it", async () => {
    expect((await refused("http://a.example/", { signal: AbortSignal.abort() })).reason).toBe("aborted");
    const stop = new AbortController();
    handler = (_request, response) => {
      response.writeHead(200).write("x");
      setTimeout(() => stop.abort(), 20);
    };
    expect((await refused("http://a.example/", { signal: stop.signal })).reason).toBe("aborted");
  });
});

describe("a failed fetch leaves no file", () => {
  test.each([
    ["404", (response: ServerResponse) => response.writeHead(404).end("x".repeat(1_000)), "media_refused"],
    ["a redirect to nowhere", (response: ServerResponse) => response.writeHead(302).end(), "media_refused"],
    ["206", (response: ServerResponse) => response.writeHead(206).end("part"), "media_refused"],
    ["an empty file", (response: ServerResponse) => response.writeHead(200).end(), "media_refused"],
    [
      "a compressed one",
      (response: ServerResponse) => response.writeHead(200, { "content-encoding": "gzip" }).end("x"),
      "media_refused",
    ],
    [
      "one that breaks off",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "100" }).write("x");
        setTimeout(() => response.destroy(), 20);
      },
      "media_unreachable",
    ],
    [
      "one that breaks off in a chunk",
      (response: ServerResponse) => {
        response.writeHead(200).write("x");
        setTimeout(() => response.destroy(), 20);
      },
      "media_unreachable",
    ],
  ])("%s", async (_name, answer, reason) => {
    handler = (_request, response) => void answer(response);
    expect((await refused("http://a.example/")).reason).toBe(reason);
  });

  test("a link at the target path is not followed, and its target is unchanged", async () => {
    handler = say("theirs");
    const target = join(tmpdir(), `guarded-fetch-target-${process.pid}`);
    writeFileSync(target, "ours");
    onTestFinished(() => rmSync(target, { force: true }));
    symlinkSync(target, join(directory, "file"));
    expect((await refused("http://a.example/")).reason).toBe("media_unreachable");
    expect(readFileSync(target, "utf8")).toBe("ours");
    rmSync(join(directory, "file"));
  });
});
