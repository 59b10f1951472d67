import { readFileSync } from "node:fs";
import { get, request as send } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definePlugin, type RouteDefinition, Type } from "../../../core/sdk/contract.ts";
import { askAs, ofPage, signIn } from "../../support/browser-client.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, startGateway, type TestGateway } from "../../support/gateway.ts";

const loopback = createLoopback();
let home: TestGateway;
let url: string;
let token: string;
const calls: string[] = [];

/** Calls a tool that asks first for `use`, fails for `break`, and repeats everything else. */
const engine = createEngine(async ({ inbound, tools }) => {
  if (inbound.text === "break") throw new Error("the engine is broken");
  const tool = tools.find(({ name }) => name === "open_door");
  if (inbound.text !== "use" || tool === undefined) return `heard: ${inbound.text}`;
  return JSON.stringify(await tool.run({ door: "front" }, new AbortController().signal));
});

const door = definePlugin({
  id: "door",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.route({
      ...{ method: "GET", path: "headers", access: "public" },
      handler: ({ headers }) => ({ body: headers }),
    });
    host.route({
      ...{ method: "GET", path: "request", access: "public" },
      handler: (request) => ({ body: Object.keys(request) }),
    });
    // What only routes of the gateway may say.
    host.route({
      ...{ method: "GET", path: "own", access: "gateway", role: "view" },
      handler: () => ({ body: "open" }),
    } as RouteDefinition);
    host.devices((presented) => presented === deviceToken);
    host.panel({
      id: "doors",
      title: "Doors",
      empty: "There is no door.",
      entries: () => [{ id: "front", title: "Front", state: { word: "shut", tone: "good" }, acts: ["ring"] }],
      acts: {
        ring: {
          label: "Ring",
          role: "operate",
          async run() {
            bell.rings += 1;
            await bell.opened.promise;
            return { ok: true, text: "It rang." };
          },
        },
      },
    });
    host.tool({
      name: "open_door",
      description: "Opens a door.",
      parameters: Type.Object({ door: Type.String() }),
      needsApproval: true,
      run({ args }) {
        calls.push(args.door);
        return "open";
      },
    });
  },
});

/** A button that is pressed until the test lets go of it. */
const bell = { rings: 0, opened: Promise.withResolvers<void>() };
const deviceToken = "a-device-token-that-was-paired";

const withToken = () => ({ authorization: `Bearer ${token}` });
const look = (path: string) => askAs(url, `/gateway/v1/${path}`, { headers: withToken() });

beforeAll(async () => {
  home = await startGateway({
    config: { channels: { loopback: { dmPolicy: "pairing", allowFrom: ["7"] } } },
    plugins: [loopback.plugin, engine, door],
  });
  url = home.gateway.url;
  token = readFileSync(join(home.gateway.stateDirectory, "gateway-token"), "utf8").trim();
});

afterAll(async () => {
  await home?.gateway.close();
  removeDirectory(home.directory);
});

describe("what can be read", () => {
  test("events come newest first, in windows, and each tells why it ended as it did", async () => {
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) {
      ids.unshift(await loopback.say(text));
      await home.settled(ids[0] ?? "");
    }
    const first = await look("events?limit=2");
    expect(first.json.events.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(first.json.events[0]).toMatchObject({ source: "loopback", sender: "7", outcome: "answered" });
    const rest = await look(`events?limit=2&before=${first.json.next}`);
    expect(rest.json.events.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    const why = await look(`events/${ids[0]}`);
    expect(why.json.decisions.map(({ station }: { station: string }) => station)).toContain("turn");
    expect((await look(`events/${ids[0]}/text`)).text).toMatch(/^answered after .*\n\n {2}event +\w+\n/);
    expect((await look("events?limit=101")).status).toBe(400);
    expect((await look("events/nothing")).status).toBe(404);
  });

  test("sessions are listed, and a conversation is read in windows", async () => {
    const { json } = await look("sessions");
    const [{ key }] = json.sessions;
    const shown = await look(`sessions/${encodeURIComponent(key)}?limit=2`);
    expect(shown.json).toMatchObject({ key, count: 6, older: 4 });
    const earlier = await look(`sessions/${encodeURIComponent(key)}?limit=2&before=${shown.json.older}`);
    expect(earlier.json.transcript.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant"]);
    expect(earlier.json.older).toBe(2);
  });

  test("the overview, usage, logs and failures have the shape that the command line prints", async () => {
    expect((await look("overview")).json).toMatchObject({ running: true, events: { waiting: 0 }, gateway: { url } });
    expect((await look("usage?by=model")).json).toMatchObject({ usage: [], total: { calls: 0 } });
    const { lines } = (await look("logs?lines=500&text=gateway%20is%20up")).json;
    expect(lines).toMatchObject([{ msg: "the gateway is up" }]);
    const failed = await loopback.say("break");
    await home.settled(failed);
    expect((await look("failed")).json.groups).toMatchObject([{ events: 1, examples: [failed] }]);
  });
});

describe("who may", () => {
  test("a route needs the token or a session, and looks at nothing before that", async () => {
    for (const path of ["overview", "events", "waiting", "logs", "stream", "browsers"])
      expect((await askAs(url, `/gateway/v1/${path}`)).status).toBe(401);
    expect((await askAs(url, "/gateway/v1/events", { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    const { json } = await askAs(url, "/gateway/v1/events", { headers: ofPage });
    expect(json).toMatchObject({ ok: false, code: "session_missing" });
  });

  test("a paired device reads how the gateway is, and no words of people, no codes, no acts", async () => {
    const headers = { authorization: `Bearer ${deviceToken}`, "content-type": "application/json" };
    await home.settled(await loopback.say("let me in", { sender: "12" }));
    for (const path of ["overview", "events", "failed", "usage", "waiting"])
      expect([path, (await askAs(url, `/gateway/v1/${path}`, { headers })).status]).toEqual([path, 200]);
    const { pairing } = (await askAs(url, "/gateway/v1/waiting", { headers })).json;
    expect(pairing).toMatchObject([{ senderId: "12" }]);
    expect(pairing[0]).not.toHaveProperty("code");
    const admin = await signIn(url, token);
    const [{ code }] = (await admin.ask("/gateway/v1/waiting")).json.pairing;
    await admin.ask("/gateway/v1/pairing/deny", { body: { channel: "loopback", code } });
    for (const path of ["sessions", "logs", "acts", "panels", "config", "config/form", "events/x", "browsers"])
      expect([path, (await askAs(url, `/gateway/v1/${path}`, { headers })).status]).toEqual([path, 401]);
    const retry = await askAs(url, "/gateway/v1/failed/retry", { body: { code: "x" }, headers });
    expect(retry.status).toBe(401);
  });

  test("a session below admin sees no code that approves, neither in an event nor in its text", async () => {
    const admin = await signIn(url, token);
    const viewer = await signIn(url, token, "operate");
    const event = await loopback.say("let me in", { sender: "13" });
    await home.settled(event);
    const [{ code }] = (await admin.ask("/gateway/v1/waiting")).json.pairing.filter(
      ({ senderId }: { senderId: string }) => senderId === "13",
    );
    const [story, text] = [`/gateway/v1/events/${event}`, `/gateway/v1/events/${event}/text`];
    expect((await admin.ask(story)).text).toContain(code);
    expect((await admin.ask(text)).text).toContain(`pairing approve loopback ${code}`);
    for (const path of [story, text]) expect((await viewer.ask(path)).text).not.toContain(code);
    expect((await viewer.ask(text)).text).toContain("pairing approve loopback [hidden]");
    await admin.ask("/gateway/v1/pairing/deny", { body: { channel: "loopback", code } });
  });

  test("a link works once", async () => {
    const link = await askAs(url, "/gateway/v1/links", {
      body: {},
      headers: { ...withToken(), "content-type": "application/json" },
    });
    expect(link.json.code).toMatch(/^[\w-]{22}$/);
    const begin = () => askAs(url, "/gateway/v1/session", { body: { code: link.json.code }, headers: ofPage });
    const begun = await begin();
    expect(String(begun.headers["set-cookie"])).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect((await begin()).json).toMatchObject({ code: "link_invalid" });
  });

  test("a session cannot make links, and one that may only look changes nothing", async () => {
    const viewer = await signIn(url, token, "view");
    expect((await viewer.ask("/gateway/v1/events")).status).toBe(200);
    expect((await viewer.ask("/gateway/v1/links", { body: {} })).status).toBe(401);
    const refused = await viewer.ask("/gateway/v1/failed/retry", { body: { code: "x" } });
    expect(refused.json).toMatchObject({ code: "role_too_low" });
    expect((await viewer.ask("/gateway/v1/browsers")).status).toBe(403);
    expect((await viewer.ask("/gateway/stop", { body: {} })).status).toBe(401);
  });

  test("requests of other pages and ports are refused, whatever cookie they carry", async () => {
    const { cookie, ask } = await signIn(url, token);
    const post = (headers: Record<string, string>) =>
      askAs(url, "/gateway/v1/failed/retry", { body: { code: "x" }, headers: { cookie, ...headers } });
    expect((await post({ ...ofPage, "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await post({ ...ofPage, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post({ ...ofPage, origin: "http://127.0.0.1:1" })).status).toBe(403);
    expect((await post({ "sec-fetch-site": "same-origin", "content-type": "application/json" })).status).toBe(403);
    expect((await post({ ...ofPage, "content-type": "text/plain" })).status).toBe(403);
    expect((await post({ "x-console": "1", "content-type": "application/json" })).status).toBe(403);
    // Browsers on plain http off this machine leave Sec-Fetch-Site out.
    expect((await post({ "x-console": "1", "content-type": "application/json", origin: url })).status).toBe(200);
    expect((await ask("/gateway/v1/events", { headers: { "sec-fetch-site": "same-site" } })).status).toBe(403);
    expect((await ask("/gateway/v1/events", { headers: { host: "rebound.example" } })).status).toBe(421);
  });

  test("the cookie opens nothing but these routes, and no plugin sees it", async () => {
    const { ask } = await signIn(url, token);
    for (const path of ["/gateway/describe", "/metrics"]) expect((await ask(path)).status).toBe(401);
    expect((await ask("/gateway/reload", { body: {} })).status).toBe(401);
    expect((await ask("/gateway/actions", { body: { action: "send" } })).status).toBe(401);
    const { json } = await ask("/plugins/door/headers");
    expect([json["sec-fetch-site"], json.cookie]).toEqual(["same-origin", undefined]);
    expect((await ask("/plugins/door/own")).status).toBe(401);
    const named = await ask("/plugins/door/request", { headers: { authorization: "Bearer an-invented-token" } });
    expect(named.json).not.toContain("caller");
  });

  test("no page takes an answer up as a script or a frame", async () => {
    const { ask } = await signIn(url, token);
    const { id } = (await ask("/gateway/v1/events?limit=1")).json.events[0];
    for (const path of ["session", "overview", `events/${id}/text`])
      expect((await ask(`/gateway/v1/${path}`)).headers).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
      });
  });

  test("a request does nothing if its session is revoked while its body arrives", async () => {
    const [thief, admin] = [await signIn(url, token), await signIn(url, token)];
    const own = (await thief.ask("/gateway/v1/session")).json.session.id;
    const before = (await admin.ask("/gateway/v1/acts")).json.acts.length;
    const headers = { ...ofPage, cookie: thief.cookie, "transfer-encoding": "chunked" };
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      const slow = send(new URL("/gateway/v1/failed/retry", url), { method: "POST", headers }, (response) => {
        resolve(response.resume().statusCode);
      }).on("error", reject);
      slow.write('{"code":', async () => {
        // By then the gateway has checked its headers.
        await new Promise((waited) => setTimeout(waited, 100));
        await admin.ask(`/gateway/v1/browsers/${own}`, { method: "DELETE", body: {} });
        slow.end('"x"}');
      });
    });
    expect(answer).toBe(401);
    expect((await admin.ask("/gateway/v1/acts")).json.acts.length).toBe(before + 1);
  });

  test("a revoked session is refused at once, and its open stream ends", async () => {
    const thief = await signIn(url, token);
    const admin = await signIn(url, token);
    const { browsers } = (await thief.ask("/gateway/v1/browsers")).json;
    const ended = new Promise<void>((resolve, reject) => {
      const headers = { cookie: thief.cookie, "sec-fetch-site": "same-origin" };
      get(new URL("/gateway/v1/stream", url), { headers }, (response) => {
        response.on("end", resolve).resume();
      }).on("error", reject);
    });
    const own = (await thief.ask("/gateway/v1/session")).json.session.id;
    expect(browsers).toContainEqual(expect.objectContaining({ id: own, role: "admin" }));
    const revoked = await admin.ask(`/gateway/v1/browsers/${own}`, { method: "DELETE", body: {} });
    expect(revoked.json).toEqual({ ok: true, revoked: own });
    await ended;
    expect((await thief.ask("/gateway/v1/events")).json).toMatchObject({ code: "session_missing" });
    expect((await admin.ask("/gateway/v1/events")).status).toBe(200);
  });

  test("guesses of a link's code end in 429", async () => {
    const guess = () => askAs(url, "/gateway/v1/session", { body: { code: "guess" }, headers: ofPage });
    const all = await Promise.all(Array.from({ length: 40 }, guess));
    expect(all.filter(({ status }) => status === 429).length).toBe(20);
    await signIn(url, token);
  });

  test("a browser that signed in by a code cannot guess the token without end", async () => {
    await signIn(url, token, "view");
    const enter = (tried: string) => askAs(url, "/gateway/v1/session", { body: { token: tried }, headers: ofPage });
    await Promise.all(Array.from({ length: 200 }, () => enter("guess")));
    expect((await enter(token)).status).toBe(429);
    expect((await look("events")).status).toBe(200);
    await signIn(url, token, "view");
  });
});

describe("what acts", () => {
  test("a pairing code is approved and denied as on the command line, and recorded with who and when", async () => {
    const { ask } = await signIn(url, token);
    await home.settled(await loopback.say("let me in", { sender: "8" }));
    await home.settled(await loopback.say("and me", { sender: "9" }));
    const { pairing } = (await ask("/gateway/v1/waiting")).json;
    expect(pairing).toMatchObject([{ channel: "loopback", senderId: "8" }, { senderId: "9" }]);
    const [first, second] = pairing;
    const approved = await ask("/gateway/v1/pairing/approve", { body: { channel: "loopback", code: first.code } });
    expect(approved.json).toMatchObject({ ok: true, approved: { senderId: "8" } });
    const again = await ask("/gateway/v1/pairing/approve", { body: { channel: "loopback", code: first.code } });
    expect(again.status).toBe(404);
    const denied = await ask("/gateway/v1/pairing/deny", { body: { channel: "loopback", code: second.code } });
    expect(denied.json).toMatchObject({ ok: true, denied: { senderId: "9" } });
    expect((await ask("/gateway/v1/waiting")).json.pairing).toEqual([]);
    const { acts } = (await ask("/gateway/v1/acts")).json;
    expect(acts.slice(0, 3)).toMatchObject([
      {
        act: "pairing_deny",
        subject: "loopback:9",
        by: expect.stringMatching(/^console session \w{10}$/),
        end: "done",
      },
      { act: "pairing_approve", subject: "loopback:an unknown code", end: "refused" },
      { act: "pairing_approve", subject: "loopback:8", end: "done" },
    ]);
  });

  test("an act is recorded before it is done, so that one which is interrupted left a trace", async () => {
    const { ask } = await signIn(url, token, "operate");
    const pressed = ask("/gateway/v1/panels/door/doors/ring", { body: { entry: "front" } });
    await expect.poll(() => bell.rings).toBe(1);
    const last = async () => (await ask("/gateway/v1/acts")).json.acts[0];
    expect(await last()).toMatchObject({ act: "door_doors_ring", subject: "front" });
    expect(await last()).not.toHaveProperty("end");
    bell.opened.resolve();
    expect((await pressed).json).toEqual({ ok: true, text: "It rang." });
    expect(await last()).toMatchObject({ act: "door_doors_ring", end: "done" });
  });

  test("a tool that asks first runs once it is allowed here, and a second answer changes nothing", async () => {
    const { ask } = await signIn(url, token);
    const event = await loopback.say("use");
    await expect.poll(async () => (await ask("/gateway/v1/waiting")).json.approvals).toHaveLength(1);
    const [request] = (await ask("/gateway/v1/waiting")).json.approvals;
    expect(request).toMatchObject({ tool: "open_door", plugin: "door", args: { door: "front" }, event });
    expect(calls).toEqual([]);
    const viewer = await signIn(url, token, "operate");
    const path = `/gateway/v1/approvals/${request.code}`;
    expect((await viewer.ask(path, { body: { verdict: "once" } })).status).toBe(403);
    const [one, other] = await Promise.all([
      ask(path, { body: { verdict: "once" } }),
      ask(path, { body: { verdict: "once" } }),
    ]);
    expect([one?.status, other?.status].sort()).toEqual([200, 409]);
    await home.settled(event);
    expect(calls).toEqual(["front"]);
    const why = (await ask(`/gateway/v1/events/${event}`)).json;
    expect(JSON.stringify(why.decisions)).toMatch(/allowed by console session \w{10}/);
  });

  test("a failed event runs again once, however often it is pressed", async () => {
    const { ask } = await signIn(url, token, "operate");
    const event = await loopback.say("break");
    await home.settled(event);
    const press = () => ask(`/gateway/v1/events/${event}/retry`, { body: {} });
    const statuses = (await Promise.all([press(), press(), press()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409]);
    await expect.poll(async () => (await ask(`/gateway/v1/events/${event}`)).json.outcome).toBe("failed");
  });
});

describe("the stream", () => {
  interface Streamed {
    readonly id: string;
    // biome-ignore lint/suspicious/noExplicitAny: tests look into events of any shape
    readonly data: any;
  }

  function follow(lastId?: string, { topics = "events", credentials = withToken() as object } = {}) {
    const events: Streamed[] = [];
    const headers = { ...credentials, ...(lastId !== undefined && { "last-event-id": lastId }) };
    const request = get(new URL(`/gateway/v1/stream?topics=${topics}`, url), { headers }, (response) => {
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) {
          const [, id = "", data = "null"] = /^id: (.*)\ndata: (.*)$/.exec(part) ?? [];
          if (id !== "") events.push({ id, data: JSON.parse(data) });
        }
      });
    });
    request.on("error", () => {});
    return { events, close: () => void request.destroy() };
  }

  test("a client that reconnects gets what it missed, and no event twice", async () => {
    const first = follow();
    await expect.poll(() => first.events.length).toBe(1);
    const one = await loopback.say("first");
    await expect.poll(() => first.events.map(({ data }) => data.data?.id)).toContain(one);
    const lastId = first.events.at(-1)?.id ?? "";
    first.close();
    const two = await loopback.say("second");
    await home.settled(two);
    const second = follow(lastId);
    await expect.poll(() => second.events.map(({ data }) => data.data?.id)).toContain(two);
    expect(second.events.map(({ data }) => data.data?.id)).not.toContain(one);
    expect(second.events[0]?.data).toEqual({ topic: "hello", reload: false });
    second.close();
    const stranger = follow("otherrun-5");
    await expect.poll(() => stranger.events[0]?.data).toEqual({ topic: "hello", reload: true });
    stranger.close();
  });

  test("lines of the log come while they are asked for, by their level, and to no paired device", async () => {
    const admin = await signIn(url, token);
    const viewer = await signIn(url, token, "view");
    const ofViewer = { cookie: viewer.cookie, "sec-fetch-site": "same-origin" };
    const lines = follow(undefined, { topics: "log,events&level=info", credentials: ofViewer });
    const warnings = follow(undefined, { topics: "log&level=warn" });
    const device = follow(undefined, {
      topics: "log,waiting",
      credentials: { authorization: `Bearer ${deviceToken}` },
    });
    const all = [lines, warnings, device];
    await expect.poll(() => all.every(({ events }) => events.length > 0)).toBe(true);
    await admin.ask("/gateway/v1/links", { body: {}, headers: withToken() });
    const acted = { topic: "log", data: expect.objectContaining({ msg: "an operator acted", act: "console_link" }) };
    await expect.poll(() => lines.events.map(({ data }) => data)).toContainEqual(acted);
    await home.settled(await loopback.say("let me in", { sender: "14" }));
    await expect.poll(() => device.events.map(({ data }) => data.topic)).toContain("waiting");
    for (const { events } of [warnings, device]) expect(events.map(({ data }) => data.topic)).not.toContain("log");
    // What waits is counted there, and no client reads a code of it.
    const waiting = device.events.find(({ data }) => data.topic === "waiting");
    expect(waiting?.data.data).toEqual({ count: expect.any(Number), digest: expect.stringMatching(/^[\da-f]{16}$/) });
    const [{ code }] = (await admin.ask("/gateway/v1/waiting")).json.pairing;
    await admin.ask("/gateway/v1/pairing/deny", { body: { channel: "loopback", code } });
    for (const one of all) one.close();
  });

  test("a ninth stream is refused, and a closed one makes room", async () => {
    await expect.poll(async () => (await look("overview")).status).toBe(200);
    const all = Array.from({ length: 8 }, () => follow());
    await expect.poll(() => all.every(({ events }) => events.length > 0)).toBe(true);
    expect((await look("stream")).status).toBe(503);
    for (const one of all) one.close();
    const next = follow();
    await expect.poll(async () => next.events.length > 0 || follow().close(), { timeout: 3_000 }).toBe(true);
    next.close();
  });
});

test("the gateway's address answers people with a page, and programs as before", async () => {
  const page = await askAs(url, "/", { headers: { accept: "text/html,*/*" } });
  expect(page.status).toBe(200);
  expect(page.text).toContain("It is ready.");
  expect(page.text.trim().split("\n").length).toBeLessThanOrEqual(10);
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const program = await askAs(url, "/", { headers: { accept: "application/json" } });
  expect([program.status, program.json.code]).toEqual([404, "not_found"]);
});
