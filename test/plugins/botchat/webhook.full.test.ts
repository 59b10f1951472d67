/** Updates by webhook: the listener's rules by hand, and the whole way with the emulated platform. */
import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { freePort } from "../../support/ports.ts";
import { createTestAccount, openConnection, until } from "./account.ts";
import { ada, callsOf, openPlatform, quick, token } from "./platform.ts";

const secret = "webhook-secret-1";

async function listening(polling: object = quick, more: object = {}) {
  const platform = await openPlatform({ webhookRetryMs: 20 });
  const port = await freePort();
  const account = createTestAccount({
    botToken: token,
    apiRoot: platform.url,
    polling,
    webhookUrl: `http://127.0.0.1:${port}/telegram-webhook`,
    webhookSecret: secret,
    webhookPort: port,
    ...more,
  });
  const connection = openConnection(account);
  await connection.start();
  await until(() => account.statuses.at(-1)?.state === "connected", "the registration");
  const post = (
    path: string,
    body: string,
    headers: Record<string, string> = { "x-telegram-bot-api-secret-token": secret },
    method = "POST",
  ) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(method === "POST" && { body }) }).then(
      (response) => response.status,
    );
  return { platform, account, connection, port, post };
}

const update = JSON.stringify({
  update_id: 5,
  message: { message_id: 1, date: 1, chat: { id: 1, type: "private" }, from: { id: 1 }, text: "x" },
});

test.each([
  ["of fewer than eight characters", "a", "webhook_secret_weak"],
  ["that is missing", undefined, "webhook_secret_missing"],
])("with a secret %s, the account does not listen or register the webhook", async (_, webhookSecret, code) => {
  const platform = await openPlatform();
  const port = await freePort();
  const account = createTestAccount({
    ...{ botToken: token, apiRoot: platform.url, polling: quick },
    ...{ webhookUrl: `http://127.0.0.1:${port}/telegram-webhook`, webhookPort: port },
    ...(webhookSecret !== undefined && { webhookSecret }),
  });
  const start = async () => await openConnection(account).start();
  await expect(start()).rejects.toMatchObject({ reason: code });
  expect(callsOf(platform, "setWebhook")).toEqual([]);
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
});

describe("registering the webhook", () => {
  async function refused(fault: Parameters<Awaited<ReturnType<typeof openPlatform>>["faults"]["add"]>[0]) {
    const platform = await openPlatform();
    platform.faults.add(fault);
    const port = await freePort();
    const account = createTestAccount({
      botToken: token,
      apiRoot: platform.url,
      polling: quick,
      webhookUrl: `http://127.0.0.1:${port}/telegram-webhook`,
      webhookSecret: secret,
      webhookPort: port,
    });
    await openConnection(account).start();
    return { platform, account };
  }

  test("is retried, and the status reports why it waits", async () => {
    const { platform, account } = await refused({ method: "setWebhook", times: 3, kind: "reset-before" });
    await until(() => account.statuses.at(-1)?.state === "connected", "the registration");
    expect(account.statuses.find(({ state }) => state === "waiting")?.detail).toMatch(/cannot be reached/);
    expect(callsOf(platform, "setWebhook").length).toBeGreaterThan(1);
  });

  test("is retried when the platform rejects the address; the status blames the address, not the network", async () => {
    const description = "Bad Request: bad webhook: Failed to resolve host: Name or service not known";
    const { account } = await refused({ method: "setWebhook", times: 2, kind: "refuse", status: 400, description });
    await until(() => account.statuses.at(-1)?.state === "connected", "the registration");
    const { code, detail } = account.statuses.find(({ state }) => state === "waiting") ?? {};
    expect(code).toBe("webhook_refused");
    expect(detail).toContain(`rejects the webhook (setWebhook: 400 ${description}`);
    expect(detail).not.toMatch(/cannot be reached|network|proxy/);
  });

  test.each([
    ["deleteWebhook", "", /another program removed the webhook of this bot/],
    ["setWebhook", "?url=http://127.0.0.1:9/elsewhere", /another program set another webhook for this bot/],
  ])("is repeated when another program's %s removed it, and later updates arrive", async (method, query, words) => {
    const { platform, account } = await listening({ ...quick, stallSeconds: 0.1 });
    await fetch(`${platform.url}/bot${token}/${method}${query}`, { method: "POST" });
    await until(() => account.statuses.some(({ detail = "" }) => words.test(detail)), "the word of it");
    await until(() => account.statuses.at(-1)?.state === "connected", "the registration");
    platform.act.say(ada, ada, "still there?");
    await until(() => account.received.length === 1, "the update");
    // Asked now and then, never set without need.
    const set = callsOf(platform, "setWebhook").length;
    await until(() => callsOf(platform, "getWebhookInfo").length > 4, "more questions");
    expect(callsOf(platform, "setWebhook").length).toBe(set);
  });

  test("counts as connected again only after the platform responds", async () => {
    const { platform, account } = await listening({ ...quick, stallSeconds: 0.1 });
    await until(() => callsOf(platform, "getWebhookInfo").length > 1, "a question that was answered");
    const away = { times: 6, kind: "reset-before" } as const;
    for (const method of ["getWebhookInfo", "setWebhook"]) platform.faults.add({ ...away, method });
    const before = account.statuses.length;
    const since = () => account.statuses.slice(before).map(({ state }) => state);
    await until(() => since().filter((state) => state === "waiting").length > 2, "three failures");
    const first = since().indexOf("waiting");
    expect(since().slice(first, first + 3)).toEqual(["waiting", "waiting", "waiting"]);
    await until(() => since().at(-1) === "connected", "the answer");
  });

  test("waits as long as the platform requires", async () => {
    const began = performance.now();
    const { account } = await refused({ method: "setWebhook", times: 1, kind: "flood", retryAfter: 1 });
    await until(() => account.statuses.at(-1)?.state === "connected", "the registration");
    expect(performance.now() - began).toBeGreaterThan(950);
  });

  test("ends with a remedy when the token is rejected", async () => {
    const { account } = await refused({
      method: "setWebhook",
      times: 1,
      kind: "refuse",
      status: 401,
      description: "Unauthorized",
    });
    await until(() => account.statuses.at(-1)?.state === "failed", "the end");
    expect(account.statuses.at(-1)).toMatchObject({
      code: "unauthorized",
      detail: "the platform rejects the bot token",
    });
  });
});

describe("the listener", () => {
  test("a message stays on the platform until it is committed, and the status reports what delays it", async () => {
    const { platform, account } = await listening();
    let failures = 1;
    account.onReceive = async () => {
      if (failures-- > 0) throw new Error("disk full");
    };
    platform.act.say(ada, ada, "hello");
    await until(() => account.received.length === 1, "the update at the second try");
    await until(() => platform.pending() === 0, "the confirmation");
    expect(account.received[0]).toMatchObject({ lane: "botchat:default:1001", identity: "7000000001" });
    const said = "the event could not be stored; its update stays with the platform and is delivered again";
    expect(account.statuses.slice(-2)).toMatchObject([{ state: "waiting", detail: said }, { state: "connected" }]);
  });

  test("related messages are grouped, even if a part returns because it could not be stored", async () => {
    const { platform, account } = await listening();
    let failures = 1;
    account.onReceive = async () => {
      if (failures-- > 0) throw new Error("disk full");
    };
    const [first] = platform.act.paste(ada, ada, "x".repeat(5_000));
    await until(() => account.received.length === 2, "both parts");
    const key = `m:${ada}:${first?.message_id}`;
    expect(account.received.map(({ gather }) => gather?.key)).toEqual([key, key]);
  });

  test("the first part of a long text is committed only after the pending continuation is stored", async () => {
    const { platform, account } = await listening();
    const { promise: storing, resolve: stored } = Promise.withResolvers<void>();
    let asked = false;
    account.onStore = () => {
      asked = true;
      return storing;
    };
    platform.act.paste(ada, ada, "x".repeat(5_000));
    await until(() => asked, "the note is being stored");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(account.received).toEqual([]);
    stored();
    await until(() => account.received.length === 2, "both parts");
  });

  test("the platform receives the secret and the update kinds", async () => {
    const { platform } = await listening();
    expect(callsOf(platform, "setWebhook")[0]?.params).toMatchObject({
      secret_token: secret,
      allowed_updates: expect.arrayContaining(["message", "callback_query"]),
    });
  });

  test("health, path, method, secret and body each have their own status", async () => {
    const { account, post } = await listening();
    expect(await post("/healthz", "", {}, "GET")).toBe(200);
    expect(await post("/", update)).toBe(404);
    expect(await post("/telegram-webhook", "", {}, "GET")).toBe(405);
    expect(await post("/telegram-webhook", update, {})).toBe(401);
    expect(await post("/telegram-webhook", update, { "x-telegram-bot-api-secret-token": `${secret}x` })).toBe(401);
    expect(await post("/telegram-webhook", "not json")).toBe(400);
    expect(await post("/telegram-webhook", "{}")).toBe(400);
    expect(account.received).toEqual([]);
    expect(await post("/telegram-webhook", update)).toBe(200);
    expect(account.received).toHaveLength(1);
  });

  test("after 200 wrong secrets, a client is blocked unless it sent the correct one within the last hour", async () => {
    const { account, post } = await listening();
    account.clientOf = (request) => String(request.headers["x-client"]);
    account.clock.at = 1_000_000;
    const call = (client: string, value: string, id = 5) =>
      post("/telegram-webhook", update.replace("5", String(id)), {
        "x-telegram-bot-api-secret-token": value,
        "x-client": client,
      });
    expect(await call("platform", secret, 1)).toBe(200);
    for (const client of ["attacker", "platform"]) {
      const statuses: number[] = [];
      for (let count = 0; count < 210; count += 1) statuses.push(await call(client, `guess-${count}`));
      expect(statuses.filter((status) => status === 401)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(190);
    }
    expect(await call("attacker", secret, 2)).toBe(429);
    expect(await call("platform", secret, 3)).toBe(200);
    account.clock.at += 60_000;
    expect(await call("attacker", secret, 4)).toBe(200);
    expect(account.received.map(({ id }) => id)).toEqual(["1", "3", "4"]);
  });

  test("the secret is checked before the body arrives", async () => {
    const { port } = await listening();
    const status = await new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () =>
        socket.write("POST /telegram-webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n"),
      );
      socket.on("data", (chunk) => resolve(chunk.toString().slice(9, 12)));
      socket.on("error", reject);
    });
    expect(status).toBe("401");
  });

  test("a body over one MiB is rejected, with or without a declared length", async () => {
    const { port, post } = await listening();
    expect(await post("/telegram-webhook", "x".repeat(1024 * 1024 + 1))).toBe(413);
    const status = await new Promise((resolve) => {
      const call = request(
        {
          port,
          path: "/telegram-webhook",
          method: "POST",
          headers: { "x-telegram-bot-api-secret-token": secret, "transfer-encoding": "chunked" },
        },
        (response) => resolve(response.statusCode),
      );
      call.on("error", () => {});
      for (let part = 0; part < 20; part += 1) call.write("x".repeat(64 * 1024));
    });
    expect(status).toBe(413);
  });
});

test("an address without a secret is rejected before anything starts", () => {
  expect(() => openConnection(createTestAccount({ botToken: token, webhookUrl: "https://x.y" }))).toThrow(
    /webhookSecret is not/,
  );
});

test("a port in use is reported in one clear sentence", async () => {
  const { port, platform } = await listening();
  const second = createTestAccount({
    botToken: token,
    apiRoot: platform.url,
    polling: quick,
    webhookUrl: "http://127.0.0.1:1/x",
    webhookSecret: secret,
    webhookPort: port,
  });
  await expect(openConnection(second).start()).rejects.toThrow(/the port is taken: set webhookPort/);
});

test("a listener on all addresses logs a warning, and one on this machine only does not", async () => {
  const warned = async (more: object) =>
    (await listening(quick, more)).account.logs.filter(({ level }) => level === "warn");
  expect(await warned({ webhookHost: "0.0.0.0" })).toMatchObject([
    {
      fields: { option: "webhookHost", host: "0.0.0.0" },
      message: "the webhook listener listens on all addresses of this machine",
    },
  ]);
  expect(await warned({})).toEqual([]);
});
