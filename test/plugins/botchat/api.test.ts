/** What goes wrong with a call, over real sockets: what the host is told decides whether it may send again. */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { ChannelError } from "service-gateway/sdk/channel";
import { describe, expect, onTestFinished, test } from "vitest";
import { type BotApi, createBotApi } from "../../../plugins/botchat/wire/api.ts";
import { createTransport, type TransportOptions } from "../../../plugins/botchat/wire/transport.ts";

const token = "7000000001:very-secret-token";

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function apiAt(apiRoot: string, more: { readonly timeoutMs?: number } & TransportOptions = {}): Promise<BotApi> {
  const transport = createTransport({ connectTimeoutMs: 500, ...more });
  onTestFinished(() => transport.close());
  return createBotApi({ token, apiRoot, transport, pollTimeoutMs: 1_000, timeoutMs: more.timeoutMs ?? 1_000 });
}

/** An HTTP server that answers everything alike. */
async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  more: Parameters<typeof apiAt>[1] = {},
): Promise<BotApi> {
  const server = createHttpServer(answer);
  const port = await listen(server);
  return apiAt(`http://127.0.0.1:${port}`, more);
}

async function failure(promise: Promise<unknown>): Promise<ChannelError> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ChannelError);
  const found = error as ChannelError;
  // The token stands in no part of it, whoever prints it.
  expect(`${found.message} ${found.stack} ${JSON.stringify(found)} ${String(found.cause)}`).not.toContain(
    "very-secret-token",
  );
  return found;
}

const say = (api: BotApi, signal?: AbortSignal) => api.call("sendMessage", { chat_id: 1, text: "x" }, signal);
const json = (status: number, body: unknown) => (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
};
const refusal = (code: number, description: string, parameters?: object) =>
  json(code, { ok: false, error_code: code, description, ...(parameters && { parameters }) });

describe("before the request is sent, a send certainly did not happen", () => {
  test("when the connection is refused", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise<void>((resolve) => void server.close(() => resolve()));
    const api = await apiAt(`http://127.0.0.1:${port}`);
    expect(await failure(say(api))).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
  });

  test("when a name does not resolve", async () => {
    const api = await apiAt("http://nowhere.invalid");
    expect(await failure(say(api))).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
  });

  test("when a TLS handshake fails", async () => {
    const port = await listen(createServer((socket) => socket.end("this is no TLS")));
    const api = await apiAt(`https://127.0.0.1:${port}`);
    expect(await failure(say(api))).toMatchObject({ reason: "network", fate: "not-sent" });
  });

  test("when it is stopped before it starts", async () => {
    const api = await answering(json(200, { ok: true, result: {} }));
    expect(await failure(say(api, AbortSignal.abort()))).toMatchObject({ reason: "aborted", fate: "not-sent" });
  });

  test("when the proxy is missing", async () => {
    const api = await apiAt("http://127.0.0.1:9", { proxy: "http://127.0.0.1:9" });
    expect(await failure(say(api))).toMatchObject({ reason: "network", fate: "not-sent" });
  });
});

describe("after the request is sent, the fate is unknown", () => {
  test("when the connection is reset", async () => {
    const port = await listen(createServer((socket) => socket.once("data", () => socket.resetAndDestroy())));
    expect(await failure(say(await apiAt(`http://127.0.0.1:${port}`)))).toMatchObject({
      reason: "network",
      fate: "unknown",
      retryable: true,
    });
  });

  test("when the connection closes without a response", async () => {
    const port = await listen(createServer((socket) => socket.once("data", () => socket.end())));
    expect(await failure(say(await apiAt(`http://127.0.0.1:${port}`)))).toMatchObject({
      reason: "network",
      fate: "unknown",
    });
  });

  test("when the response breaks off halfway", async () => {
    const port = await listen(
      createServer((socket) =>
        socket.once("data", () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok":')),
      ),
    );
    expect(await failure(say(await apiAt(`http://127.0.0.1:${port}`)))).toMatchObject({ fate: "unknown" });
  });

  test("when no response arrives in time", async () => {
    const port = await listen(createServer(() => {}));
    const api = await apiAt(`http://127.0.0.1:${port}`, { timeoutMs: 200 });
    expect(await failure(say(api))).toMatchObject({ reason: "timeout", fate: "unknown", retryable: true });
  });

  test("when it is stopped while waiting", async () => {
    const api = await answering(() => {});
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    expect(await failure(say(api, stop.signal))).toMatchObject({ reason: "aborted", fate: "unknown" });
  });

  test("when a success response does not come from the platform", async () => {
    expect(await failure(say(await answering(json(200, "<html>hello</html>"))))).toMatchObject({
      reason: "bad_answer",
      fate: "unknown",
    });
    expect(await failure(say(await answering(json(200, "[1]"))))).toMatchObject({
      reason: "bad_answer",
      fate: "unknown",
    });
    expect(await failure(say(await answering(json(200, { ok: true }))))).toMatchObject({
      reason: "bad_answer",
      fate: "unknown",
    });
  });
});

describe("an error response", () => {
  test.each([
    [400, 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0', "parse_entities", false],
    [400, "Bad Request: can't find end of the entity starting at byte offset 3", "parse_entities", false],
    [
      400,
      "Bad Request: message is not modified: specified new message content is the same",
      "message_not_modified",
      false,
    ],
    [400, "Bad Request: message is too long", "too_long", false],
    [400, "Bad Request: message caption is too long", "too_long", false],
    [400, "Bad Request: message thread not found", "thread_gone", false],
    [400, "Bad Request: TOPIC_CLOSED", "thread_gone", false],
    [400, "Bad Request: message to be replied not found", "reply_target_gone", false],
    [400, "Bad Request: message to edit not found", "message_gone", false],
    [400, "Bad Request: message to delete not found", "message_gone", false],
    [400, "Bad Request: chat not found", "chat_not_found", false],
    [400, "Bad Request: group chat was upgraded to a supergroup chat", "chat_migrated", false],
    [400, "Bad Request: not enough rights to send text messages to the chat", "no_rights", false],
    [400, "Bad Request: message text is empty", "empty_text", false],
    [400, "Bad Request: something new", "bad_request", false],
    [401, "Unauthorized", "unauthorized", false],
    [403, "Forbidden: bot was blocked by the user", "blocked_by_user", false],
    [403, "Forbidden: user is deactivated", "blocked_by_user", false],
    [403, "Forbidden: bot was kicked from the group chat", "no_rights", false],
    [403, "Forbidden: bot can't initiate conversation with a user", "chat_not_found", false],
    [404, "Not Found", "unauthorized", false],
    [404, "Not Found: method not found", "method_unknown", false],
    [409, "Conflict: terminated by other getUpdates request", "conflict", false],
    [500, "Internal Server Error", "platform_error", true],
    [502, "Bad Gateway", "platform_error", true],
  ])("%i %s means that the call did not happen", async (code, description, reason, retryable) => {
    expect(await failure(say(await answering(refusal(code, description))))).toMatchObject({
      reason,
      retryable,
      fate: "not-sent",
    });
  });

  test("after a timeout of an intermediate server leaves the fate unknown", async () => {
    const answers = [
      refusal(504, "Gateway Timeout"),
      json(504, "<html>504 Gateway Time-out</html>"),
      json(524, "<html>A timeout occurred</html>"),
    ];
    for (const answer of answers)
      expect(await failure(say(await answering(answer)))).toMatchObject({
        reason: "platform_error",
        retryable: true,
        fate: "unknown",
      });
  });

  test("of a proxy that rejects a large file is recognized by its status", async () => {
    expect(await failure(say(await answering(json(413, "<html>413 Request Entity Too Large</html>"))))).toMatchObject({
      reason: "too_large",
      retryable: false,
      fate: "not-sent",
    });
  });

  test("with 404 means a wrong bot for getMe, but not for another method", async () => {
    const api = await answering(refusal(404, "Not Found: nothing of the kind"));
    expect(await failure(api.call("getMe", {}))).toMatchObject({ reason: "unauthorized" });
    expect(await failure(api.call("getUpdates", {}))).toMatchObject({
      reason: "method_unknown",
      retryable: false,
      fate: "not-sent",
    });
  });

  test("with 429 contains the full wait", async () => {
    const api = await answering(refusal(429, "Too Many Requests: retry after 95", { retry_after: 95 }));
    expect(await failure(say(api))).toMatchObject({
      reason: "flood_wait",
      retryable: true,
      retryAfterMs: 95_000,
      fate: "not-sent",
    });
  });

  test("that is a page of a proxy counts as a platform error", async () => {
    expect(await failure(say(await answering(json(502, "<html>bad gateway</html>"))))).toMatchObject({
      reason: "platform_error",
      retryable: true,
      fate: "not-sent",
    });
    expect(await failure(say(await answering(json(403, "<html>blocked</html>"))))).toMatchObject({
      reason: "bad_answer",
      retryable: false,
      fate: "not-sent",
    });
  });

  test("that repeats the address does not reveal the token", async () => {
    const error = await failure(say(await answering(refusal(400, `Bad Request: /bot${token}/sendMessage`))));
    expect(error.message).toContain("[token]");
  });
});

describe("connections", () => {
  test("are reused, so many calls use few of them", async () => {
    const ports = new Set<number | undefined>();
    const api = await answering((request, response) => {
      ports.add(request.socket.remotePort);
      json(200, { ok: true, result: { message_id: 1 } })(request, response);
    });
    for (let call = 0; call < 20; call += 1) await say(api);
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test("always go through an http proxy", async () => {
    const asked: string[] = [];
    const proxy = createHttpServer((request, response) => {
      asked.push(new URL(request.url ?? "").host);
      json(200, { ok: true, result: { message_id: 1 } })(request, response);
    });
    const proxyPort = await listen(proxy);
    const api = await apiAt("http://bot.invalid:8081", { proxy: `http://127.0.0.1:${proxyPort}` });
    expect(await say(api)).toEqual({ message_id: 1 });
    expect(asked).toEqual(["bot.invalid:8081"]);
  });

  test("always go through a socks5 proxy", async () => {
    const target = createHttpServer(json(200, { ok: true, result: { message_id: 1 } }));
    const targetPort = await listen(target);
    let asked = "";
    const proxy = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", () => {
        socket.write(Buffer.from([5, 0]));
        socket.once("data", (request: Buffer) => {
          asked = request.subarray(5, 5 + (request[4] ?? 0)).toString();
          const up = connect(targetPort, "127.0.0.1", () => {
            socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
            up.pipe(socket).pipe(up);
          });
          up.on("error", () => up.destroy());
        });
      });
    });
    const proxyPort = await listen(proxy);
    const api = await apiAt("http://bot.invalid:8081", { proxy: `socks5://127.0.0.1:${proxyPort}` });
    expect(await say(api)).toEqual({ message_id: 1 });
    expect(asked).toBe("bot.invalid");
  });

  test("always go through a socks4 proxy, by host name", async () => {
    const target = createHttpServer(json(200, { ok: true, result: { message_id: 1 } }));
    const targetPort = await listen(target);
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", (request: Buffer) => {
        // Version, command, port, an address that stands for a name, the user, the name.
        const [user = "", name = ""] = request.subarray(8).toString().split("\0");
        asked.push(`${request[0]} ${request[1]} ${request.readUInt16BE(2)} ${user} ${name}`);
        const up = connect(targetPort, "127.0.0.1", () => {
          socket.write(Buffer.from([0, 90, 0, 0, 0, 0, 0, 0]));
          up.pipe(socket).pipe(up);
        });
        up.on("error", () => up.destroy());
      });
    });
    const proxyPort = await listen(proxy);
    const api = await apiAt("http://bot.invalid:8081", { proxy: `socks4://me@127.0.0.1:${proxyPort}` });
    expect(await say(api)).toEqual({ message_id: 1 });
    expect(asked).toEqual(["4 1 8081 me bot.invalid"]);
  });

  test("fail pending calls when they are reset, and the next call works", async () => {
    let calls = 0;
    const api = await answering((request, response) => {
      calls += 1;
      if (calls > 1) json(200, { ok: true, result: { message_id: 1 } })(request, response);
    });
    const hanging = failure(say(api));
    await new Promise((resolve) => setTimeout(resolve, 100));
    api.renew();
    expect(await hanging).toMatchObject({ fate: "unknown" });
    expect(await say(api)).toEqual({ message_id: 1 });
  });
});

test("updates arrive while a hundred sends wait, because the poll has its own connection", async () => {
  const waiting: ServerResponse[] = [];
  const api = await answering(
    (request, response) => {
      if (request.url?.endsWith("/getUpdates")) json(200, { ok: true, result: [] })(request, response);
      else waiting.push(response);
    },
    { timeoutMs: 20_000 },
  );
  const sends = Array.from({ length: 100 }, () => say(api));
  await expect.poll(() => waiting.length).toBe(64);
  expect(await api.call("getUpdates", {})).toEqual([]);
  // The rest of the sends comes as the first are answered.
  const answer = json(200, { ok: true, result: { message_id: 1 } });
  for (let answered = 0; answered < sends.length; answered += 1) {
    await expect.poll(() => waiting.length).toBeGreaterThan(answered);
    const response = waiting[answered];
    if (response !== undefined) answer(response.req, response);
  }
  await Promise.all(sends);
});
