import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { definePlugin, type HookName } from "../../../core/sdk/contract.ts";
import { openSqliteReader, openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

let directory: string;
let running: TestGateway | undefined;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  await running?.gateway.close();
  running = undefined;
  removeDirectory(directory);
});

const eventFrom = (chat: string, id: string) => ({
  event: {
    source: "loopback",
    kind: "update",
    account: "default",
    lane: `loopback:default:${chat}`,
    authority: "channel" as const,
    body: {
      kind: "message",
      chat: { id: chat, kind: "direct" },
      sender: { id: chat },
      text: "hello",
      media: [],
      mention: false,
      timestamp: 1,
    },
  },
  id,
  at: 1,
});

/**
 * Leaves the state that processes leave which were killed in the turn of one event; the last of them showed a preview.
 */
async function killInTurn(times: number): Promise<void> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  const lane = "loopback:default:7";
  await store.accept(eventFrom("7", "e"));
  for (let count = 0; count < times; count += 1) {
    await store.begin(1);
    await store.claim(lane, { now: 1, limit: 10 });
  }
  await store.setPreview("e", {
    address: { channel: "loopback", account: "default", chat: "7" },
    messageIds: ["half-said"],
  });
  await store.close();
}

test("an event killed in all its attempts fails with an apology, and its leftover preview is removed", async () => {
  await killInTurn(3);
  const loopback = createLoopback({ previews: true });
  const config = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  running = await startGateway({ directory, config, plugins: [loopback.plugin, repeat] });
  const report = await running.settled("e");
  expect(report).toMatchObject({ outcome: "failed", reason: "attempts_exhausted", attempts: 3 });
  expect(report.decisions).toContainEqual(expect.objectContaining({ detail: "3 attempts did not end" }));
  expect(loopback.removed).toEqual(["half-said"]);
  expect(loopback.sent).toEqual([{ chat: "7", text: expect.stringContaining("interrupted three times") }]);
});

test("a run that only sends the apology is not an attempt, even while it waits for its channel", async () => {
  await killInTurn(3);
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  await store.begin(1);
  await store.claim("loopback:default:7", { now: 1, limit: 10 });
  const address = { channel: "loopback", account: "default", chat: "7" };
  const part = { kind: "text", chars: 5, body: { text: "sorry" } };
  const ending = { outcome: "failed", reason: "attempts_exhausted" } as const;
  await store.say({ unitId: "e", at: 1, rows: [{ address, operation: "send", part }], ending });
  await store.setAttempts("e", 3);
  await store.close();
  const config = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  // While the channel is away, the apology waits for it.
  running = await startGateway({ directory, plugins: [repeat] });
  const reader = await openSqliteReader({ directory: join(directory, "state"), now: Date.now });
  await expect
    .poll(async () => (await reader.event("e"))?.decisions.map(({ code }) => code))
    .toEqual(["account_not_open"]);
  expect((await reader.event("e"))?.attempts).toBe(3);
  await reader.close();
  await running.gateway.close();
  const loopback = createLoopback();
  running = await startGateway({ directory, config, plugins: [loopback.plugin, repeat] });
  expect(await running.settled("e")).toMatchObject({ outcome: "failed", attempts: 3 });
  expect(loopback.sent).toHaveLength(1);
});

test("an event that is killed again while its apology is prepared ends without one", async () => {
  await killInTurn(4);
  const loopback = createLoopback({ previews: true });
  const config = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  running = await startGateway({ directory, config, plugins: [loopback.plugin, repeat] });
  expect(await running.settled("e")).toMatchObject({ outcome: "failed", reason: "attempts_exhausted" });
  expect(loopback.sent).toEqual([]);
});

test("events killed twice get their last attempt one at a time, so that only the one that kills fails", async () => {
  const chats = ["7", "8", "9"];
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  for (const chat of chats) await store.accept(eventFrom(chat, `e${chat}`));
  for (let count = 0; count < 2; count += 1) {
    await store.begin(1);
    for (const chat of chats) await store.claim(`loopback:default:${chat}`, { now: 1, limit: 10 });
  }
  await store.close();
  const loopback = createLoopback();
  const [begins, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const engine = createEngine(async ({ inbound }) => {
    if (inbound.text === "hello") {
      begins.resolve();
      await finished.promise;
    }
    return `${inbound.text} to you`;
  });
  const config = { session: { dmScope: "per-peer" }, channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  running = await startGateway({ directory, config, plugins: [loopback.plugin, engine] });
  await begins.promise;
  // Others are served meanwhile.
  await loopback.say("good day", { chat: "6", sender: "6" });
  await loopback.sentCount(1);
  const reader = await openSqliteReader({ directory: join(directory, "state"), now: Date.now });
  const attempts = [];
  for (const chat of chats) attempts.push((await reader.event(`e${chat}`))?.attempts);
  await reader.close();
  expect(attempts).toEqual([3, 2, 2]);
  finished.resolve();
  await loopback.sentCount(4);
  expect(loopback.sent.map(({ chat, text }) => `${chat}: ${text}`)).toEqual([
    "6: good day to you",
    ...chats.map((chat) => `${chat}: hello to you`),
  ]);
});

const elsewhere = { channel: "loopback", account: "default", chat: "8" };

const changes: readonly (readonly [string, HookName, () => unknown, readonly object[]])[] = [
  ["the event cannot be parsed any more", "ingress", () => ({ silent: "forgotten" }), []],
  ["its sender is let in no more", "gating", () => ({ code: "closed" }), []],
  [
    "no way is found for its answer",
    "routing",
    () => Promise.reject(new Error("lost the map")),
    [{ chat: "7", text: expect.stringContaining("could not answer") }],
  ],
  ["it stays silent now", "turn", () => null, []],
  [
    "its answer goes to another chat, whose messages have other ids",
    "routing",
    () => ({ agentId: "main", sessionKey: "agent:main:main", isolated: false, to: elsewhere }),
    [{ chat: "8", text: "heard: hello" }],
  ],
];

test.each(changes)("the leftover preview of a killed process is removed when %s", async (_, hook, tap, sent) => {
  await killInTurn(1);
  const loopback = createLoopback({ previews: true });
  const config = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  const guest = definePlugin({
    id: "guest",
    version: "1.0.0",
    host: "^0.2.0",
    setup: (host) => host.tap(hook, tap as never, { order: "early" }),
  });
  running = await startGateway({ directory, config, plugins: [loopback.plugin, repeat, guest] });
  await running.settled("e");
  expect(loopback.removed).toEqual(["half-said"]);
  expect(loopback.sent).toEqual(sent);
});

test("a removal that was interrupted repeatedly is still made, because repeating it is harmless", async () => {
  await killInTurn(3);
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  const lane = "loopback:default:7";
  await store.begin(1);
  await store.claim(lane, { now: 1, limit: 10 });
  await store.say({
    unitId: "e",
    at: 1,
    rows: [
      {
        address: { channel: "loopback", account: "default", chat: "7" },
        operation: "remove",
        part: { kind: "preview", chars: 0, body: null, replaces: "half-said" },
      },
    ],
    ending: { outcome: "failed", reason: "attempts_exhausted" },
  });
  // Two more processes began to remove it, and were killed.
  for (let count = 0; count < 2; count += 1) {
    await store.begin(1);
    await store.claim(lane, { now: 1, limit: 10 });
    for (const row of await store.unsent("e")) await store.sending(row.id);
  }
  await store.close();
  const loopback = createLoopback({ previews: true });
  const config = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  running = await startGateway({ directory, config, plugins: [loopback.plugin, repeat] });
  expect(await running.settled("e")).toMatchObject({ outcome: "failed", reason: "attempts_exhausted" });
  expect(loopback.removed).toEqual(["half-said"]);
});
