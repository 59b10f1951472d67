import { describe, expect, test } from "vitest";
import { ada, kitchen, openPlatform, pause, token } from "./client.ts";

const texts = (home: Awaited<ReturnType<typeof openPlatform>>) =>
  [...home.platform.world.rooms.values()].flatMap((room) => [...room.messages.values()].map((message) => message.text));
const send = { chat_id: ada, text: "once" };

describe("faults", () => {
  test("a reset after the write keeps the message and loses the response", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "sendMessage", times: 1, kind: "reset-after" });
    await expect(home.call("sendMessage", send)).rejects.toThrow();
    expect(texts(home).filter((text) => text === "once")).toHaveLength(1);
    expect((await home.call("sendMessage", send)).ok).toBe(true);
  });

  test("a reset before the write keeps nothing", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "sendMessage", times: 1, kind: "reset-before" });
    await expect(home.call("sendMessage", send)).rejects.toThrow();
    expect(texts(home)).not.toContain("once");
  });

  test("a drop sends no response until the client gives up", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "*", times: 1, kind: "drop" });
    const client = new AbortController();
    const call = fetch(`${home.platform.url}/bot${token}/getMe`, { signal: client.signal });
    await expect.poll(() => home.platform.faults.list()).toEqual([]);
    expect(await Promise.race([call, pause(80)])).toBeUndefined();
    client.abort();
    await expect(call).rejects.toThrow(/abort/i);
    expect((await home.call("getMe")).ok).toBe(true);
  });

  test("a delay responds late", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "getMe", times: 1, kind: "delay", ms: 120 });
    const from = performance.now();
    expect((await home.call("getMe")).ok).toBe(true);
    expect(performance.now() - from).toBeGreaterThan(100);
  });

  test("a file download can also break off, be late or be refused, and then succeed", async () => {
    await using home = await openPlatform();
    const { faults, files } = home.platform;
    const { path } = files.add("document", {
      bytes: Buffer.alloc(1_000, "x"),
      fileName: "a.txt",
      mimeType: "text/plain",
    });
    const get = () => fetch(`${home.platform.url}/file/bot${token}/${path}`);
    faults.add({ method: "file", times: 1, kind: "reset-after" });
    const broken = await get();
    expect(broken.status).toBe(200);
    await expect(broken.arrayBuffer()).rejects.toThrow();
    faults.add({ method: "file", times: 1, kind: "status", status: 503 });
    expect((await get()).status).toBe(503);
    faults.add({ method: "file", times: 1, kind: "delay", ms: 60 });
    const from = performance.now();
    expect((await (await get()).text()).length).toBe(1_000);
    expect(performance.now() - from).toBeGreaterThan(50);
    faults.add({ method: "getMe", times: 1, kind: "status" });
    expect((await get()).status).toBe(200);
  });

  test("5xx, garbage, flood and refusals respond without any effect", async () => {
    await using home = await openPlatform();
    const { faults } = home.platform;
    faults.add({ method: "sendMessage", times: 1, kind: "status", status: 503 });
    expect((await home.call("sendMessage", send)).status).toBe(503);
    faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 7 });
    expect(await home.call("sendMessage", send)).toMatchObject({
      status: 429,
      description: "Too Many Requests: retry after 7",
      parameters: { retry_after: 7 },
    });
    faults.add({
      method: "sendMessage",
      times: 1,
      kind: "refuse",
      description: "Bad Request: VOICE_MESSAGES_FORBIDDEN",
    });
    expect((await home.call("sendMessage", send)).description).toBe("Bad Request: VOICE_MESSAGES_FORBIDDEN");
    faults.add({ method: "sendMessage", times: 1, kind: "garbage", status: 502 });
    const answer = await fetch(`${home.platform.url}/bot${token}/sendMessage?chat_id=${ada}&text=once`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(texts(home)).not.toContain("once");
  });

  test("a fault affects its own method as often as it specifies", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "sendMessage", times: 2, kind: "status" });
    expect((await home.call("getMe")).ok).toBe(true);
    expect((await home.call("sendMessage", send)).status).toBe(502);
    expect(home.platform.faults.list()).toEqual([{ method: "sendMessage", times: 1, kind: "status" }]);
    expect((await home.call("sendMessage", send)).status).toBe(502);
    expect((await home.call("sendMessage", send)).ok).toBe(true);
  });
});

describe("faults by rule", () => {
  test("the rule sees every call with its parameters, and a queued fault takes precedence", async () => {
    await using home = await openPlatform();
    const { faults } = home.platform;
    faults.leaveTo((method, params) =>
      method === "sendMessage" && params.chat_id === ada ? { kind: "status" } : undefined,
    );
    expect((await home.call("sendMessage", { ...send, chat_id: kitchen })).ok).toBe(true);
    expect((await home.call("sendMessage", send)).status).toBe(502);
    faults.add({ method: "*", times: 1, kind: "status", status: 503 });
    expect((await home.call("sendMessage", send)).status).toBe(503);
    faults.leaveTo(undefined);
    expect((await home.call("sendMessage", send)).ok).toBe(true);
  });

  test("every fault can be delayed", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "*", times: 1, kind: "status", ms: 120 });
    const from = performance.now();
    expect((await home.call("sendMessage", send)).status).toBe(502);
    expect(performance.now() - from).toBeGreaterThan(100);
  });
});

describe("limits", () => {
  test("no limits apply unless they are configured", async () => {
    await using home = await openPlatform();
    for (let turn = 0; turn < 40; turn += 1) expect((await home.call("sendMessage", send)).ok).toBe(true);
  });

  test("too many messages in one chat get 429 with the seconds to wait, and later ones pass", async () => {
    let now = 1_800_000_000_000;
    await using home = await openPlatform({ limits: { perChatPerSecond: 2 }, now: () => now });
    for (const turn of [1, 2]) expect((await home.call("sendMessage", { ...send, text: `${turn}` })).ok).toBe(true);
    expect(await home.call("sendMessage", send)).toMatchObject({ status: 429, parameters: { retry_after: 1 } });
    expect((await home.call("sendMessage", { chat_id: kitchen, text: "x" })).ok).toBe(true);
    now += 1001;
    expect((await home.call("sendMessage", send)).ok).toBe(true);
  });

  test("a group has its own limit per minute", async () => {
    await using home = await openPlatform({ limits: { perGroupPerMinute: 1 }, now: () => 1_800_000_000_000 });
    expect((await home.call("sendMessage", { chat_id: kitchen, text: "x" })).ok).toBe(true);
    expect((await home.call("sendMessage", { chat_id: kitchen, text: "x" })).parameters).toEqual({ retry_after: 60 });
  });
});

describe("recorded calls", () => {
  test("the latest calls are recorded with parameters, status and fault until recording is switched off", async () => {
    await using home = await openPlatform();
    home.platform.faults.add({ method: "getMe", times: 1, kind: "status" });
    await home.call("getMe");
    await home.call("sendMessage", send);
    expect(home.platform.calls.list()).toMatchObject([
      { method: "getMe", status: 502, fault: "status" },
      { method: "sendMessage", params: send, status: 200 },
    ]);
    home.platform.calls.clear();
    const edit = { chat_id: ada, message_id: 1, text: "no such message of the bot" };
    home.platform.faults.add({ method: "editMessageText", times: 1, kind: "reset-after" });
    await expect(home.call("editMessageText", edit)).rejects.toThrow();
    home.platform.faults.add({ method: "sendMessage", times: 1, kind: "delay", ms: 10_000 });
    const signal = AbortSignal.timeout(50);
    await expect(
      fetch(`${home.platform.url}/bot${token}/sendMessage?chat_id=${ada}&text=late`, { signal }),
    ).rejects.toThrow(/timeout/i);
    await expect.poll(() => home.platform.calls.list()).toHaveLength(2);
    const [refused, late] = home.platform.calls.list();
    // Nobody heard why, and nobody heard that it was done.
    expect(refused).toMatchObject({
      status: 0,
      fault: "reset-after",
      description: "Bad Request: message can't be edited",
    });
    expect([late?.status, late?.description]).toEqual([0, undefined]);
    home.platform.calls.clear();
    await home.call("getMe");
    home.platform.calls.record(false);
    await home.call("getMe");
    expect(home.platform.calls.list({ method: "getMe" })).toHaveLength(1);
  });
});
