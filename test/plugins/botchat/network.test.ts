/**
 * Routes that are blocked, one address family that does not connect, time limits: over real sockets, and told without
 * the token.
 */
import dns from "node:dns";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer } from "node:net";
import { ChannelError } from "service-gateway/sdk/channel";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type BotApi, createBotApi } from "../../../plugins/botchat/wire/api.ts";
import { createTransport, type Transport, type TransportOptions } from "../../../plugins/botchat/wire/transport.ts";
import { createTestAccount, openConnection, until } from "./account.ts";
import { callsOf, openPlatform, token } from "./platform.ts";
import { httpProxy, listen } from "./proxies.ts";

interface Found {
  readonly address: string;
  readonly family: 4 | 6;
}

const six: Found = { address: "::1", family: 6 };
const four: Found = { address: "127.0.0.1", family: 4 };

/** The resolver of this machine, with names of our own. What it was asked for is returned. */
function resolving(
  names: Readonly<Record<string, readonly Found[]>>,
): { readonly name: string; readonly family: unknown }[] {
  const asked: { name: string; family: unknown }[] = [];
  const original = dns.lookup as unknown as (...args: unknown[]) => void;
  const lookup = (name: string, options: dns.LookupOptions, done: (...result: unknown[]) => void) => {
    const all = names[name];
    if (all === undefined) return original(name, options, done);
    asked.push({ name, family: options.family });
    const fit = all.filter(({ family }) => options.family !== 4 || family === 4);
    const [first] = fit;
    if (first === undefined)
      setImmediate(done, Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
    else if (options.all === true) setImmediate(done, null, fit);
    else setImmediate(done, null, first.address, first.family);
  };
  const spy = vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
  onTestFinished(() => spy.mockRestore());
  return asked;
}

const answers: RequestListener = (request, response) => {
  if (request.url?.startsWith("/file/") === true) response.end("a file");
  else response.end('{"ok":true,"result":{"message_id":1}}');
};

async function open(
  apiRoot: string,
  more: TransportOptions & { readonly timeoutMs?: number } = {},
): Promise<{ readonly api: BotApi; readonly transport: Transport }> {
  const { timeoutMs = 2_000, ...options } = more;
  const transport = createTransport({ connectTimeoutMs: 500, ...options });
  onTestFinished(() => transport.close());
  return { api: await createBotApi({ token, apiRoot, transport, timeoutMs, pollTimeoutMs: timeoutMs }), transport };
}

const say = (api: BotApi) => api.call("sendMessage", { chat_id: 1, text: "x" });

/** The error of a call, of which no part shows the token. */
async function failure(promise: Promise<unknown>): Promise<ChannelError> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (thrown: Error) => thrown,
  );
  expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(
    "connection-test",
  );
  expect(error).toBeInstanceOf(ChannelError);
  return error as ChannelError;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece.toString();
  return text;
}

describe.each([undefined, true, false])("autoSelectFamily %s", (autoSelectFamily) => {
  const chosen = autoSelectFamily === undefined ? {} : { autoSelectFamily };

  test("a server with an unreachable IPv6 address is reached by IPv4, for calls and files", async () => {
    const port = await listen(createHttpServer(answers));
    resolving({ "both.invalid": [six, four] });
    const { api, transport } = await open(`http://both.invalid:${port}`, chosen);
    for (let call = 0; call < 3; call += 1) expect(await say(api)).toEqual({ message_id: 1 });
    const file = `http://both.invalid:${port}/file/bot${token}/a`;
    expect(await transport.download(file, { maxBytes: 100, timeoutMs: 1_000, save: textOf })).toBe("a file");
  });

  test("a file is fetched by IPv4 even without an earlier call", async () => {
    const port = await listen(createHttpServer(answers));
    resolving({ "both.invalid": [six, four] });
    const { transport } = await open(`http://both.invalid:${port}`, chosen);
    const file = `http://both.invalid:${port}/file/a`;
    expect(await transport.download(file, { maxBytes: 100, timeoutMs: 1_000, save: textOf })).toBe("a file");
  });

  test("a proxy with an unreachable IPv6 address is reached by IPv4", async () => {
    const port = await listen(createHttpServer(answers));
    const proxy = await httpProxy();
    resolving({ "proxy.invalid": [six, four] });
    const { api } = await open(`http://bot.invalid:${port}`, {
      ...chosen,
      proxy: `http://proxy.invalid:${proxy.port}`,
    });
    expect(await say(api)).toEqual({ message_id: 1 });
  });

  test("a failure of all addresses is reported, with nothing sent", async () => {
    resolving({ "both.invalid": [six, four] });
    const { api } = await open(`http://both.invalid:${await closedPort()}`, chosen);
    const error = await failure(say(api));
    expect(error).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
    expect(error.message).toMatch(/\(E[A-Z]+, before the request went out\)/);
  });
});

test("once IPv4 works, IPv6 is no longer tried first", async () => {
  const port = await listen(
    createHttpServer((request, response) => {
      // So that each call needs a connection of its own.
      response.setHeader("connection", "close");
      answers(request, response);
    }),
  );
  const asked = resolving({ "both.invalid": [six, four] });
  const { api } = await open(`http://both.invalid:${port}`, { autoSelectFamily: false });
  await say(api);
  await say(api);
  expect(asked.map(({ family }) => family === 4)).toEqual([false, true, true]);
});

describe("timeoutSeconds limits the whole call", () => {
  test("when the response arrives drop by drop", async () => {
    const port = await listen(
      createHttpServer((_request, response) => {
        const timer = setInterval(() => response.write(" "), 50);
        response.on("close", () => clearInterval(timer));
      }),
    );
    const { api } = await open(`http://127.0.0.1:${port}`, { timeoutMs: 400 });
    expect(await failure(say(api))).toMatchObject({ reason: "timeout", fate: "unknown", retryable: true });
  });

  test("when a handshake does not end, so nothing was sent", async () => {
    const port = await listen(createServer(() => {}));
    const { api } = await open(`https://127.0.0.1:${port}`, { timeoutMs: 200, connectTimeoutMs: 10_000 });
    expect(await failure(say(api))).toMatchObject({ reason: "timeout", fate: "not-sent", retryable: true });
  });

  test("when it is set as an option of the account", async () => {
    const port = await listen(createServer(() => {}));
    const account = createTestAccount({ botToken: token, apiRoot: `http://127.0.0.1:${port}`, timeoutSeconds: 1 });
    const connection = openConnection(account);
    const began = Date.now();
    await failure(Promise.resolve(connection.resolve?.("@somebody")));
    expect(Date.now() - began).toBeGreaterThanOrEqual(900);
  });
});

describe("a blocked route", () => {
  const commands = [{ name: "help", summary: "What there is" }];
  const failed = /^setMyCommands failed: .*check the network, the proxy and apiRoot; it is retried$/;

  test("is reported for the menu with a remedy, and the menu is registered when the route opens", async () => {
    const platform = await openPlatform();
    const blocked = new Set(["getMyCommands", "setMyCommands"]);
    const upstream = Number(new URL(platform.url).port);
    const server = createHttpServer((request, response) => {
      if (blocked.has(request.url?.split("/").at(-1) ?? "")) return void request.socket.destroy();
      void fetch(`http://127.0.0.1:${upstream}${request.url}`, {
        method: "POST",
        body: request as never,
        duplex: "half",
        headers: { "content-type": "application/json" },
      } as never)
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.destroy());
    });
    const apiRoot = `http://127.0.0.1:${await listen(server)}`;
    const polling = { timeoutSeconds: 0, minDelayMs: 20, maxDelayMs: 100 };
    const account = createTestAccount({ botToken: token, apiRoot, polling }, { commands });
    await openConnection(account).start();
    await until(() => account.logs.some(({ message }) => failed.test(message)), "the log line");
    expect(account.statuses.at(-1)?.state).toBe("connected");
    blocked.clear();
    await until(() => callsOf(platform, "setMyCommands").length === 1, "the menu", 8_000);
    expect(JSON.stringify([account.logs, account.statuses])).not.toContain("connection-test");
  });

  test.each([
    ["refuses connections", async () => `http://127.0.0.1:${await closedPort()}`, {}, /ECONNREFUSED/],
    [
      "swallows what is sent",
      async () => `http://127.0.0.1:${await listen(createServer(() => {}))}`,
      { timeoutSeconds: 1 },
      /TIMEOUT/,
    ],
    ["has no name", async () => "http://nowhere.invalid", {}, /ENOTFOUND|EAI_AGAIN/],
    [
      "leads through a proxy that is down",
      async () => "http://bot.invalid",
      { proxy: "http://127.0.0.1:9" },
      /ECONNREFUSED/,
    ],
  ])("that %s is reported for the menu with a remedy", async (_what, createRoot, options, code) => {
    const account = createTestAccount({ botToken: token, apiRoot: await createRoot(), ...options });
    await openConnection(account).menu?.(commands);
    const lines = account.logs.filter(({ message }) => failed.test(message));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.message).toMatch(code);
    expect(JSON.stringify(account.logs)).not.toContain("connection-test");
  });

  test("is reported in the account state, and the account connects when the route opens", async () => {
    const port = await closedPort();
    const account = createTestAccount({
      botToken: token,
      apiRoot: `http://127.0.0.1:${port}`,
      polling: { minDelayMs: 20, maxDelayMs: 100 },
    });
    const starting = openConnection(account).start();
    await until(() => account.statuses.some(({ detail }) => /cannot be reached/.test(detail ?? "")), "the state");
    expect(account.statuses.at(-1)).toMatchObject({
      code: "network",
      detail: expect.stringContaining("ECONNREFUSED"),
      hint: expect.stringContaining("Check the network, the proxy and apiRoot"),
    });
    const server = createHttpServer((request, response) => {
      const me = { id: 7_000_000_001, is_bot: true, first_name: "House", username: "house_bot" };
      const result =
        request.url?.endsWith("getMe") === true ? me : request.url?.endsWith("getUpdates") === true ? undefined : true;
      if (result !== undefined) response.end(JSON.stringify({ ok: true, result }));
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await starting;
    await until(() => account.statuses.at(-1)?.state === "connected", "connected");
    expect(JSON.stringify([account.logs, account.statuses])).not.toContain("connection-test");
  });
});
