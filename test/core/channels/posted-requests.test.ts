/** What platforms post to the gateway's own port: judged by the account, and stored before it is confirmed. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChannelRequest, defineChannel, type Json, Type } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";

const sign = (text: string, secret: string) => createHmac("sha256", secret).update(text).digest("hex");

interface Posted {
  readonly team: string;
  readonly text: string;
}

let handled: string[] = [];
const sent: string[] = [];

/** One app with several workspaces: an address for each account, and one for all of them. */
const plaza = defineChannel({
  id: "plaza",
  version: "1.0.0",
  host: "*",
  options: Type.Object({ team: Type.String(), secret: Type.String() }),
  secrets: ["secret"],
  credentials: ["team"],
  capabilities: { maxChars: 1_000 },
  route: {
    path: "events",
    accountOf: ({ body }, accounts) => {
      const { team } = JSON.parse(body.toString("utf8")) as Posted;
      return team === "none" ? "none" : accounts.find(({ options }) => options.team === team)?.id;
    },
  },
  open(account) {
    const { secret } = account.options;
    const isSigned = ({ headers, body }: ChannelRequest) => headers["x-signature"] === sign(body.toString(), secret);
    account.route({
      path: "events",
      maxBytes: 1_000,
      async handler(request) {
        handled.push(account.id);
        const refused = request.judge(() => isSigned(request));
        if (refused !== undefined) return refused;
        await account.receive(JSON.parse(request.body.toString("utf8")) as Json);
        return { body: { ok: true } };
      },
    });
    account.route({
      path: "by-head/only",
      methods: ["GET", "POST"],
      refuse: ({ headers, judge }) => judge(() => headers["x-secret"] === secret),
      handler: ({ method, path, query, body }) => ({ body: { method, path, query, body: body.toString("hex") } }),
    });
    return {
      start: async () => account.status({ state: "connected" }),
      parse(raw) {
        const { team, text } = raw as unknown as Posted;
        return { chat: { id: team, kind: "direct" }, sender: { id: "7" }, text };
      },
      render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
      async send({ body }) {
        sent.push(String(body));
        return { messageId: String(sent.length) };
      },
      close: async () => {},
    };
  },
});

let host: TestHost;

beforeAll(async () => {
  host = await createTestHost({
    plugins: [plaza],
    config: {
      channels: {
        plaza: {
          dmPolicy: "open",
          allowFrom: ["*"],
          accounts: { north: { team: "T1", secret: "one" }, south: { team: "T2", secret: "two" } },
        },
      },
    },
  });
});

afterAll(async () => await host.close());

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  host.fetch(`/channels/plaza/${path}`, { method: "POST", body, headers });
const signed = (path: string, event: Posted, secret: string) => {
  const body = JSON.stringify(event);
  return post(path, body, { "x-signature": sign(body, secret) });
};
const answered = () => sent;

test("a signed event is stored for the account of its address, and answered after that", async () => {
  const response = await signed("north/events", { team: "T1", text: "to the north" }, "one");
  expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
  await expect.poll(answered).toContain("heard: to the north");
});

test("a shared address leads to the account that the body names, which judges with its own secret", async () => {
  handled = [];
  expect((await signed("events", { team: "T2", text: "to the south" }, "two")).status).toBe(200);
  await expect.poll(answered).toContain("heard: to the south");
  expect((await signed("events", { team: "T2", text: "forged" }, "one")).status).toBe(401);
  expect(handled).toEqual(["south", "south"]);
  for (const body of ['{"team":"T3"}', '{"team":"none"}', "no JSON"])
    expect((await post("events", body)).status).toBe(404);
  expect(answered()).not.toContain("heard: forged");
});

test.each([
  ["an unknown account", "POST", "east/events", 404],
  ["an unknown path", "POST", "north/other", 404],
  ["the account itself", "POST", "north", 404],
  ["another method", "PUT", "north/events", 405],
  ["a method that no route takes", "PATCH", "north/events", 404],
])("a request to %s never reaches a channel", async (_name, method, path, status) => {
  handled = [];
  const response = await host.fetch(`/channels/plaza/${path}`, { method, body: "{}" });
  expect([response.status, handled]).toEqual([status, []]);
});

test("a body beyond the limit of its route, and a request of a web page, never reach a channel", async () => {
  handled = [];
  expect((await post("north/events", "x".repeat(1_001))).status).toBe(413);
  expect((await post("north/events", "{}", { origin: "https://elsewhere.test" })).status).toBe(403);
  expect(handled).toEqual([]);
});

test("a route can refuse by the head, and its handler receives the bytes and the query", async () => {
  const bytes = Buffer.from([0, 255, 10, 13]);
  const right = { "x-secret": "one" };
  expect((await post("north/by-head/only", "x")).status).toBe(401);
  const posted = await host.fetch("/channels/plaza/north/by-head/only?a=1&a=2", {
    method: "POST",
    headers: { ...right, "content-type": "image/png" },
    body: bytes,
  });
  const path = "/channels/plaza/north/by-head/only";
  expect(await posted.json()).toEqual({ method: "POST", path, query: { a: "2" }, body: bytes.toString("hex") });
  const got = await host.fetch("/channels/plaza/north/by-head/only", { headers: right });
  expect(await got.json()).toEqual({ method: "GET", path, query: {}, body: "" });
});

test("who fails too often is refused for a while, at that account alone", async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 21; count += 1) statuses.push((await post("south/by-head/only", "x")).status);
  expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  expect((await post("south/by-head/only", "x")).headers.get("retry-after")).toMatch(/^\d+$/);
  expect((await post("north/by-head/only", "x")).status).toBe(401);
});
