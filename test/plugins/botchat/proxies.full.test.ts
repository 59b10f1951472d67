/** Every call and every file goes by the proxy, whatever its kind; what it refuses is told without what it was told. */
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:net";
import { ChannelError } from "service-gateway/sdk/channel";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBotApi } from "../../../plugins/botchat/wire/api.ts";
import { createTransport, type TransportOptions } from "../../../plugins/botchat/wire/transport.ts";
import { freePort } from "../../support/ports.ts";
import { createCertificate, trust } from "./certificate.ts";
import { type Account, httpProxy, listen, socksProxy, type TestProxy } from "./proxies.ts";

const token = "7000000001:very-secret-token";
const account: Account = { user: "us er", password: "pass:w%rd/@" };
const credentials = `${encodeURIComponent(account.user)}:${encodeURIComponent(account.password)}@`;

const platform: RequestListener = (request, response) => {
  if (request.url === `/file/bot${token}/photos/a.png`) response.end("a file");
  else if (request.url === `/bot${token}/sendMessage`) response.end('{"ok":true,"result":{"message_id":1}}');
  else response.writeHead(404).end('{"ok":false,"error_code":404,"description":"Not Found"}');
};

const targets = {
  plain: async () => `http://bot.invalid:${await listen(createHttpServer(platform))}`,
  TLS: async () => {
    const certificate = createCertificate("bot.invalid");
    trust(certificate);
    return `https://bot.invalid:${await listen(createHttpsServer(certificate, platform))}`;
  },
  "HTTP/2": async () => {
    const certificate = createCertificate("bot.invalid");
    trust(certificate);
    const server = createSecureServer({ ...certificate, allowHTTP1: true }, platform as never);
    return `https://bot.invalid:${await listen(server)}`;
  },
};

const proxies: Readonly<Record<string, (account?: Account) => Promise<TestProxy>>> = {
  http: httpProxy,
  socks5: socksProxy,
};

function wire(options: TransportOptions) {
  const transport = createTransport({ connectTimeoutMs: 500, ...options });
  onTestFinished(() => transport.close());
  return transport;
}

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece.toString();
  return text;
}

async function open(apiRoot: string, proxy: string, timeoutMs = 2_000) {
  const transport = wire({ proxy });
  const api = await createBotApi({ token, apiRoot, transport, pollTimeoutMs: timeoutMs, timeoutMs });
  return {
    say: () => api.call("sendMessage", { chat_id: 1, text: "x" }),
    fetch: () =>
      transport.download(`${apiRoot}/file/bot${token}/photos/a.png`, { maxBytes: 100, timeoutMs, save: textOf }),
  };
}

/** The error, of which no part shows the token or what was said to the proxy. */
async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (thrown: Error) => thrown,
  );
  const shown = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
  for (const secret of [
    "very-secret-token",
    account.user,
    account.password,
    encodeURIComponent(account.password),
    "mistaken",
  ]) {
    expect(shown).not.toContain(secret);
  }
  return error;
}

describe.each(Object.entries(proxies))("a proxy by %s", (scheme, createProxy) => {
  test.each(Object.entries(targets))(
    "carries calls and files to a server that speaks %s",
    async (kind, createTarget) => {
      const apiRoot = await createTarget();
      const proxy = await createProxy();
      const { say, fetch } = await open(apiRoot, `${scheme}://127.0.0.1:${proxy.port}`);
      expect(await say()).toEqual({ message_id: 1 });
      expect(await fetch()).toBe("a file");
      const host = new URL(apiRoot).host;
      const way = scheme === "socks5" ? "SOCKS5" : "CONNECT";
      if (scheme === "http" && kind === "plain") expect(proxy.asked).toEqual([`POST ${host}`, `GET ${host}`]);
      else expect(new Set(proxy.asked)).toEqual(new Set([`${way} ${host}`]));
    },
  );

  test.each(Object.entries(targets))(
    "accepts a user and a password for a server that speaks %s",
    async (_kind, createTarget) => {
      const apiRoot = await createTarget();
      const proxy = await createProxy(account);
      const { say, fetch } = await open(apiRoot, `${scheme}://${credentials}127.0.0.1:${proxy.port}`);
      expect(await say()).toEqual({ message_id: 1 });
      expect(await fetch()).toBe("a file");
    },
  );

  test.each(Object.entries(targets))(
    "reports a rejected password on the way to a server that speaks %s",
    async (_kind, createTarget) => {
      const apiRoot = await createTarget();
      const proxy = await createProxy(account);
      for (const given of ["us%20er:mistaken@", ""]) {
        const { say, fetch } = await open(apiRoot, `${scheme}://${given}127.0.0.1:${proxy.port}`);
        const error = await failure(say());
        expect(error).toBeInstanceOf(ChannelError);
        expect(error).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
        expect(error.message).toMatch(
          /PROXY_AUTHENTICATION.*does not accept the user and password of the option proxy/,
        );
        expect((await failure(fetch())).message).toMatch(/PROXY_AUTHENTICATION|STATUS_407/);
      }
      expect(proxy.asked.length).toBeGreaterThan(0);
    },
  );

  test("reports a server that it cannot reach", async () => {
    const proxy = await createProxy();
    const { say } = await open(`https://bot.invalid:${await freePort()}`, `${scheme}://127.0.0.1:${proxy.port}`);
    const error = await failure(say());
    expect(error).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
    expect(error.message).toContain("PROXY_REFUSED");
  });

  test("is reported if it is down", async () => {
    const { say, fetch } = await open(await targets.plain(), `${scheme}://${credentials}127.0.0.1:${await freePort()}`);
    const error = await failure(say());
    expect(error).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
    expect(error.message).toContain("ECONNREFUSED");
    expect((await failure(fetch())).message).toBe("ECONNREFUSED");
  });

  test("is abandoned after the connect timeout if it accepts the connection but stays silent", async () => {
    const silent = await listen(createServer(() => {}));
    const { say } = await open("https://bot.invalid:443", `${scheme}://127.0.0.1:${silent}`, 60_000);
    // Before the time of the whole call, which is longer than a test may take.
    expect(await failure(say())).toMatchObject({ fate: "not-sent", retryable: true });
  });

  test("is reported if it disconnects during its greeting", async () => {
    const port = await listen(createServer((socket) => socket.once("data", () => socket.end())));
    const { say } = await open("https://bot.invalid:443", `${scheme}://127.0.0.1:${port}`);
    expect(await failure(say())).toMatchObject({ reason: "network", fate: "not-sent", retryable: true });
  });

  test("does not bypass the check of an untrusted server certificate", async () => {
    const proxy = await createProxy();
    const certificate = createCertificate("bot.invalid");
    const port = await listen(createHttpsServer(certificate, platform));
    const { say } = await open(`https://bot.invalid:${port}`, `${scheme}://127.0.0.1:${proxy.port}`);
    const error = await failure(say());
    expect(error).toMatchObject({ reason: "network", fate: "not-sent" });
    expect(error.message).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
  });
});
