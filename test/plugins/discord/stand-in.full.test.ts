/** The stand-in refuses what the platform's description refuses: a channel that works on it has to be right. */
import { once } from "node:events";
import { aroundEach, describe, test } from "vitest";
import { type DiscordServer, startDiscord } from "../../support/discord/server.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";

aroundEach(inOwnTest);

async function serve(how: Parameters<typeof startDiscord>[0] = {}): Promise<DiscordServer> {
  const server = await startDiscord(how);
  onTestFinished(() => server.close());
  return server;
}

const agent = "DiscordBot (https://example.test, 1.0)";

async function call(
  server: DiscordServer,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${server.root}${path}`, {
    method,
    headers: {
      authorization: `Bot ${server.token}`,
      "user-agent": agent,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json().catch(() => ({}))) as { readonly code?: number }) };
}

const row = (count: number, more: object = {}) => ({
  type: 1,
  components: Array.from({ length: count }, (_, at) => ({
    type: 2,
    style: 2,
    label: "L",
    custom_id: `c${at}`,
    ...more,
  })),
});

describe.concurrent("a message", () => {
  test.for([
    [{ content: "x".repeat(2_001) }, 400, 50_035],
    [{ content: " " }, 400, 50_006],
    [{ content: "x", nonce: "n".repeat(26) }, 400, 50_035],
    [{ content: "x", components: [row(6)] }, 400, 50_035],
    [{ content: "x", components: Array.from({ length: 6 }, () => row(1)) }, 400, 50_035],
    [{ content: "x", components: [row(2, { custom_id: "same" })] }, 400, 50_035],
    [{ content: "x", components: [row(1, { label: "L".repeat(81) })] }, 400, 50_035],
    [{ content: "x", components: [row(1, { custom_id: "c".repeat(101) })] }, 400, 50_035],
    [{ content: "x", embeds: Array.from({ length: 11 }, () => ({ title: "t" })) }, 400, 50_035],
    [{ content: "x", allowed_mentions: { parse: ["all"] } }, 400, 50_035],
    [{ content: "x", message_reference: { message_id: "1" } }, 400, 50_035],
    [{ content: "x", colour: "red" }, 400, 50_035],
    ["{", 400, 50_109],
  ] as const)("%j is refused", async ([body, status, code]) => {
    const server = await serve();
    expect(await call(server, "POST", `/channels/${server.world.general.id}/messages`, { body })).toMatchObject({
      status,
      code,
    });
  });

  test("with a known nonce is there once, if that is asked for", async () => {
    const server = await serve();
    const path = `/channels/${server.world.general.id}/messages`;
    for (const enforce of [true, true, false])
      await call(server, "POST", path, { body: { content: "x", nonce: "1", enforce_nonce: enforce } });
    expect(server.world.general.messages.size).toBe(2);
  });
});

test.for([
  ["GET", "/users/@me", { authorization: "Bot wrong" }, 401],
  ["GET", "/users/@me", { "user-agent": "curl/8" }, 403],
  ["DELETE", "/users/@me", {}, 405],
  ["GET", "/nothing", {}, 404],
  ["GET", "/channels/1100000000000000999", {}, 404],
  ["GET", "/channels/1100000000000000201", {}, 403],
  ["GET", "/channels/1100000000000000101/messages?limit=101", {}, 400],
] as const)("%s %s %j is answered with %i", async ([method, path, headers, status]) => {
  expect(await call(await serve(), method, path, { headers })).toMatchObject({ status });
});

test("calls above the limit are refused until it is over", async () => {
  const server = await serve({ limit: { calls: 2, ms: 60_000 } });
  const path = `/channels/${server.world.general.id}/messages`;
  const statuses = [];
  for (let count = 0; count < 3; count += 1)
    statuses.push((await call(server, "POST", path, { body: { content: "x" } })).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect(
    (await call(server, "POST", `/channels/${server.world.thread.id}/messages`, { body: { content: "x" } })).status,
  ).toBe(200);
});

describe.concurrent("the gateway", () => {
  const properties = { os: "linux", browser: "test", device: "test" };

  async function open(server: DiscordServer, query = "v=10&encoding=json") {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/?${query}`);
    onTestFinished(() => socket.close());
    const payloads: { readonly op: number; readonly d: unknown; readonly t?: string }[] = [];
    socket.addEventListener("message", ({ data }) => payloads.push(JSON.parse(String(data))));
    const closed = once(socket, "close").then(([event]) => (event as CloseEvent).code);
    await once(socket, "open");
    return {
      payloads,
      closed,
      send: (op: number, d: unknown) => socket.send(JSON.stringify({ op, d })),
      raw: (words: string) => socket.send(words),
    };
  }

  test.for([
    [2, { token: "wrong", intents: 1, properties }, 4004],
    [2, { intents: 1 << 30, properties }, 4013],
    [2, { intents: (1 << 1) | 1, properties }, 4014],
    [2, { intents: 1 }, 4002],
    [1, "no number", 4002],
    [3, {}, 4003],
    [99, {}, 4001],
  ] as const)("op %i with %j closes with %i", async ([op, d, code]) => {
    const server = await serve();
    const { send, closed } = await open(server);
    send(op, typeof d === "string" ? d : { token: server.token, ...d });
    expect(await closed).toBe(code);
  });

  test("another version, junk, a second sign-in, a wrong sequence and silence close it", async () => {
    const server = await serve({ heartbeatMs: 100 });
    expect(await (await open(server, "v=9&encoding=json")).closed).toBe(4012);
    const junk = await open(server);
    junk.raw("{");
    expect(await junk.closed).toBe(4002);
    const twice = await open(server);
    for (let count = 0; count < 2; count += 1) twice.send(2, { token: server.token, intents: 1, properties });
    expect(await twice.closed).toBe(4005);
    const ready = twice.payloads.find(({ t }) => t === "READY")?.d as { readonly session_id: string };
    const wrong = await open(server);
    wrong.send(6, { token: server.token, session_id: ready.session_id, seq: 999 });
    expect(await wrong.closed).toBe(4007);
    const unknown = await open(server);
    unknown.send(6, { token: server.token, session_id: "unknown", seq: 1 });
    await expect.poll(() => unknown.payloads.at(-1)).toEqual({ op: 9, d: false });
    expect(await (await open(server)).closed).toBe(4000);
  });

  test("without the intent, messages of servers have no content unless they mention the bot", async () => {
    const server = await serve();
    const { world } = server;
    const { send, payloads } = await open(server);
    send(2, { token: server.token, intents: 1 | (1 << 9), properties });
    const contents = () =>
      payloads.flatMap(({ t, d }) => (t === "MESSAGE_CREATE" ? [(d as { content: string }).content] : []));
    await expect.poll(() => payloads.some(({ t }) => t === "GUILD_CREATE")).toBe(true);
    server.say(world.ada, world.general, "hidden");
    server.say(world.ada, world.general, `<@${world.bot.id}> shown`);
    server.say(world.ada, world.direct(world.ada), "no intent for direct chats");
    await expect.poll(contents).toEqual(["", `<@${world.bot.id}> shown`]);
  });
});

test("an interaction is answered once, in three seconds", async () => {
  let now = Date.now();
  const server = await serve({ now: () => now });
  const { world } = server;
  const answer = async ({ id, token }: { readonly id: string; readonly token: string }) =>
    await call(server, "POST", `/interactions/${id}/${token}/callback`, { body: { type: 5, data: { flags: 64 } } });
  const used = server.slash(world.ada, world.general, "help");
  expect((await answer(used)).status).toBe(204);
  expect(await answer(used)).toMatchObject({ status: 400, code: 40_060 });
  const late = server.slash(world.ada, world.general, "help");
  now += 3_001;
  expect(await answer(late)).toMatchObject({ status: 404, code: 10_062 });
  now += 900_000;
  expect(
    await call(server, "PATCH", `/webhooks/${world.bot.id}/${used.token}/messages/@original`, {
      body: { content: "late" },
    }),
  ).toMatchObject({ status: 401, code: 50_027 });
});
