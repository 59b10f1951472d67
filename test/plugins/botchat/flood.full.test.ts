/** Sending to a platform that has limits, and to one that says no for a moment: over real HTTP. */
import type { Address } from "service-gateway/sdk";
import type { ChannelConnection, Part } from "service-gateway/sdk/channel";
import { aroundEach, test, vi } from "vitest";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { createTestAccount, openConnection } from "./account.ts";
import { ada, callsOf, direct, forum, messageIn, never, openPlatform, reply, start } from "./platform.ts";

aroundEach(inOwnTest);

const limits = { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 };
const group: Address = { ...direct, chat: String(forum) };

/** As the outbox does: each part when the connection lets it go. */
async function sendInTurn(connection: ChannelConnection, text: string, address: Address): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const part of connection.render(reply(text), address)) {
    await connection.admit?.(part, address, never);
    ids.push((await connection.send(part, address, never)).messageId);
  }
  return ids;
}

test.concurrent("simultaneous answers in several chats and topics respect the limits and arrive once", async () => {
  const platform = await openPlatform({ limits });
  const { connection } = await start({ limits, textChunkLimit: 12 }, { platform });
  const people = [...platform.world.people.keys()].slice(0, 3);
  for (const person of people) platform.act.say(person, person, "hello");
  const topics = ["one", "two"].map((name) => ({
    ...group,
    thread: String(platform.act.createTopic(ada, forum, name)),
  }));
  const addresses = [...people.map((person) => ({ ...direct, chat: String(person) })), ...topics];
  const sent = await Promise.all(
    addresses.map((address) => sendInTurn(connection, "first part\n\nsecond part", address)),
  );
  for (const [index, { chat }] of addresses.entries()) {
    const texts = sent[index]?.map((messageId) => messageIn(platform, messageId, Number(chat))?.text);
    expect(texts).toEqual(["first part", "second part"]);
  }
  const calls = callsOf(platform, "sendMessage");
  expect(calls).toHaveLength(10);
  expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
});

test.concurrent("a 429 blocks its chat without further attempts until it ends, and other chats continue", async () => {
  const { platform, connection } = await start();
  platform.act.say(ada, ada, "hello");
  platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 1 });
  await expect(sendInTurn(connection, "x", direct)).rejects.toMatchObject({
    reason: "flood_wait",
    retryAfterMs: 1_000,
  });
  const [part] = connection.render(reply("held"), direct);
  await expect(connection.send(part as Part, direct, never)).rejects.toMatchObject({
    reason: "flood_wait",
    fate: "not-sent",
    retryable: true,
  });
  expect(callsOf(platform, "sendMessage")).toHaveLength(1);
  await connection.typing?.(direct);
  expect(callsOf(platform, "sendChatAction")).toEqual([]);
  const order: string[] = [];
  await Promise.all([
    sendInTurn(connection, "after", direct).then(() => order.push("held")),
    sendInTurn(connection, "meanwhile", group).then(() => order.push("other")),
    connection.react?.("1", "👍", direct).then(() => order.push("reaction")),
  ]);
  expect(order.toSorted()).toEqual(["held", "other", "reaction"]);
  expect(order[0]).toBe("other");
});

test.concurrent.each(["after a restart", "on another node that takes over"])(
  "a long wait imposed by the platform still blocks its chat %s, but not that of another bot",
  async (where) => {
    const { platform, account, connection } = await start();
    platform.act.say(ada, ada, "hello");
    platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 60 });
    await expect(sendInTurn(connection, "x", direct)).rejects.toMatchObject({
      reason: "flood_wait",
      retryAfterMs: 60_000,
    });
    await connection.close();
    const next = createTestAccount(account.account.options);
    const restarted = openConnection(next);
    if (where !== "after a restart") await restarted.standBy?.();
    next.store.set(`flood-wait:9:${forum}`, { until: Date.now() + 60_000, ms: 60_000 });
    for (const [key, value] of account.store) next.store.set(key, value);
    await restarted.start();
    const [part] = restarted.render(reply("held"), direct);
    const refused = restarted.send(part as Part, direct, never);
    await expect(refused).rejects.toMatchObject({ reason: "flood_wait", fate: "not-sent", retryable: true });
    const { retryAfterMs } = await refused.catch((error) => error);
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(callsOf(platform, "sendMessage")).toHaveLength(1);
    await sendInTurn(restarted, "meanwhile", group);
  },
);

test.concurrent("a 429 for a removal or a reaction blocks its chat as for a message, and delays none", async () => {
  const platform = await openPlatform({ limits });
  const { connection } = await start({ limits }, { platform });
  platform.act.say(ada, ada, "hello");
  const [sent = ""] = await sendInTurn(connection, "x", direct);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await connection.react?.(sent, "👍", direct);
  await connection.remove?.(sent, direct, never);
  const [part] = connection.render(reply("next"), direct);
  expect(connection.admit?.(part as Part, direct, never)).toBeUndefined();
  platform.faults.add({ method: "deleteMessage", times: 1, kind: "flood", retryAfter: 1 });
  await expect(connection.remove?.("1", direct, never)).rejects.toMatchObject({
    reason: "flood_wait",
    retryAfterMs: 1_000,
  });
  await expect(connection.send(part as Part, direct, never)).rejects.toMatchObject({
    reason: "flood_wait",
    fate: "not-sent",
  });
  await expect(connection.remove?.("1", direct, never)).rejects.toMatchObject({
    reason: "flood_wait",
    retryable: true,
  });
  expect(callsOf(platform, "deleteMessage")).toHaveLength(2);
});

test.concurrent("an edit of unknown fate can be repeated; an edit of a deleted message sends no new one", async () => {
  const { platform, connection } = await start();
  platform.act.say(ada, ada, "hello");
  const [messageId = ""] = await sendInTurn(connection, "before", direct);
  const [rendered] = connection.render(reply("after"), direct);
  const change = { ...(rendered as Part), replaces: messageId, inPlace: true as const };
  platform.faults.add({ method: "editMessageText", times: 1, kind: "reset-after" });
  await expect(connection.send(change, direct, never)).rejects.toMatchObject({ fate: "not-sent", retryable: true });
  expect(await connection.send(change, direct, never)).toEqual({ messageId });
  expect(messageIn(platform, messageId)?.text).toBe("after");
  await connection.remove?.(messageId, direct, never);
  const { replaces: _gone, ...moved } = change;
  for (const part of [change, moved])
    await expect(connection.send(part, direct, never)).rejects.toMatchObject({
      reason: "message_gone",
      retryable: false,
    });
  expect(callsOf(platform, "sendMessage")).toHaveLength(1);
});

test.concurrent("a text that its markup makes too long is sent once without markup", async () => {
  const { platform, connection } = await start();
  platform.act.say(ada, ada, "hello");
  platform.faults.add({
    method: "sendMessage",
    times: 1,
    kind: "refuse",
    description: "Bad Request: message is too long",
  });
  const [messageId] = await sendInTurn(connection, "**bold** words", direct);
  expect(messageIn(platform, messageId)).toMatchObject({ text: "bold words" });
  expect(messageIn(platform, messageId)?.entities).toBeUndefined();
  platform.faults.add({
    method: "sendMessage",
    times: 2,
    kind: "refuse",
    description: "Bad Request: message is too long",
  });
  await expect(sendInTurn(connection, "**bold** words", direct)).rejects.toMatchObject({ reason: "too_long" });
});

test("a reaction waits as long as the platform requires, even if its timer fires early", async () => {
  const { platform, connection } = await start();
  platform.act.say(ada, ada, "hello");
  platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 1 });
  await expect(sendInTurn(connection, "x", direct)).rejects.toMatchObject({ reason: "flood_wait" });
  // The clock goes at half of the speed of timers.
  const now = performance.now.bind(performance);
  const begun = now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => begun + (now() - begun) / 2);
  onTestFinished(() => clock.mockRestore());
  await connection.react?.("1", "👍", direct);
  expect(callsOf(platform, "setMessageReaction").map(({ status }) => status)).toEqual([200]);
});
