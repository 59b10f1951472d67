/** A person deletes a message: it is not answered, and its words are no longer stored. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChannelError, type EngineTurn, type TurnEvent } from "../../../core/sdk/contract.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";

type Answer = (turn: EngineTurn, signal: AbortSignal) => string | AsyncIterable<TurnEvent>;

async function open(answer: Answer = ({ inbound }) => `heard: ${inbound.text.length}`, config: object = {}) {
  const turns: EngineTurn[] = [];
  const host = await createTestHost({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" } }, ...config },
    answer(turn, signal) {
      turns.push(turn);
      return answer(turn, signal);
    },
  });
  onTestFinished(async () => {
    await host.close();
  });
  return { host, turns, asked: () => turns.map(({ messages }) => JSON.stringify(messages)) };
}

/** What the store contains as text: bodies, conversations and data, but not the free pages of the file. */
async function stored(host: TestHost): Promise<string> {
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
  try {
    const events = await store.events({ limit: 1_000, includeInternal: true });
    const bodies = await Promise.all(events.map(({ id }) => store.body(id)));
    const sessions = await store.sessionReports({ limit: 100 });
    const conversations = await Promise.all(sessions.map(({ key }) => store.transcript(key)));
    return JSON.stringify([events, bodies, conversations, await store.rowsAbout("")]);
  } finally {
    await store.close();
  }
}

/** A turn that does not end by itself; resolves with its signal once it has begun. */
function endless() {
  const begun = Promise.withResolvers<AbortSignal>();
  async function* run(signal: AbortSignal): AsyncGenerator<TurnEvent> {
    begun.resolve(signal);
    yield { type: "text", delta: "I begin " };
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  return { begun: begun.promise, run };
}

test("deleted while it waits for the turn before it: it gets none, and its words are gone", async () => {
  const slow = endless();
  const { host, turns } = await open(({ inbound }, signal) => (inbound.text === "first" ? slow.run(signal) : "answer"));
  const first = host.say("first", { id: "1" });
  await slow.begun;
  const second = host.say("the code is 7391", { id: "2" });
  expect(await host.say("", { deletes: "in-2" })).toMatchObject({ outcome: "silent", reason: "message_deleted" });
  await host.say("/stop");
  await first;
  expect(await second).toMatchObject({ outcome: "silent", reason: "deleted_by_sender" });
  expect(turns).toHaveLength(1);
  expect(await stored(host)).not.toContain("7391");
});

test("deleted during its turn: the turn ends without a word in the chat, and leaves nothing", async () => {
  const slow = endless();
  const { host } = await open(({ inbound }, signal) => (inbound.text.includes("7391") ? slow.run(signal) : "answer"));
  const asked = host.say("the code is 7391", { id: "1" });
  const signal = await slow.begun;
  await host.say("", { deletes: "in-1" });
  expect(signal.aborted).toBe(true);
  expect(await asked).toMatchObject({ outcome: "silent", reason: "deleted_by_sender" });
  expect(host.outbox()).toEqual([]);
  await host.say("hello", { id: "2" });
  expect(host.outbox().map(({ text }) => text)).toEqual(["answer"]);
  expect(await stored(host)).not.toContain("7391");
});

test("deleted after its answer: question and answer leave the conversation, and the trace says so", async () => {
  const { host } = await open(({ inbound }) => `you said ${inbound.text}`);
  const asked = await host.say("the code is 7391", { id: "1" });
  await host.say("and now?", { id: "2" });
  await host.say("", { deletes: "in-1" });
  expect(await host.why(asked)).toContainEqual(
    expect.objectContaining({ station: "settled", code: "deleted_by_sender" }),
  );
  const left = await stored(host);
  expect(left).toContain("and now?");
  // The outbox still has what was sent; it is not searched, and goes with the event.
  expect(left).not.toContain("7391");
  // A deletion that is reported once more changes nothing.
  expect(await host.say("", { deletes: "in-1", id: "again" })).toMatchObject({ outcome: "silent" });
});

test("in a group: words that the bot only overheard leave the context of later turns", async () => {
  const { host, asked } = await open();
  const group = { group: true, from: "ada" } as const;
  await host.say("the code is 7391", { ...group, id: "1" });
  await host.say("the number is 55", { ...group, id: "2" });
  await host.say("the colour is red", { ...group, id: "3" });
  await host.say("", { ...group, deletes: "in-1" });
  await host.say("what was said?", { ...group, mention: true, id: "4" });
  expect(asked().at(-1)).not.toContain("7391");
  expect(asked().at(-1)).toContain("the number is 55");
  await host.say("", { ...group, deletes: "in-2" });
  const left = await stored(host);
  expect(left).not.toContain("number is 55");
  expect(left).toContain("the colour is red");
  expect(left).toContain("what was said?");
});

test("a quote of the message in another one's turn goes, too, and the other message stays", async () => {
  const { host } = await open();
  await host.say("the code is 7391", { id: "1", from: "ada", group: true });
  const store = () => stored(host);
  await host.say("is that right?", { id: "2", from: "bela", group: true, mention: true, replyTo: "in-1" });
  await host.say("", { deletes: "in-1", from: "ada", group: true });
  expect(await store()).not.toContain("7391");
  expect(await store()).toContain("is that right?");
});

test.each([
  ["another person's id", { from: "eve", chat: "group", group: true }],
  ["another chat", { from: "ada", chat: "elsewhere", group: true }],
  ["a direct chat", { from: "ada" }],
])("a deletion with %s removes nothing", async (_, by) => {
  const { host, asked } = await open();
  await host.say("the code is 7391", { id: "1", from: "ada", group: true });
  expect(await host.say("", { ...by, deletes: "in-1" })).toMatchObject({
    outcome: "silent",
    reason: "message_unknown",
  });
  await host.say("what was said?", { id: "2", from: "ada", group: true, mention: true });
  expect(asked().at(-1)).toContain("7391");
});

test("a deletion of a message that never was is ignored", async () => {
  const { host } = await open();
  expect(await host.say("", { deletes: "in-77" })).toMatchObject({ outcome: "silent", reason: "message_unknown" });
  expect(await host.say("hello")).toMatchObject({ outcome: "answered" });
});

/** A platform that is away when the answer is sent. */
async function openAway() {
  const { host } = await open(({ inbound }) => `you said ${inbound.text}`);
  const tried = Promise.withResolvers<void>();
  host.beforeSend(() => {
    tried.resolve();
    throw new ChannelError("network", { retryable: true, fate: "not-sent", retryAfterMs: 60_000 });
  });
  const asked = host.say("the code is 7391", { id: "1" });
  await tried.promise;
  await host.say("", { deletes: "in-1" });
  return { host, asked };
}

async function sentParts(host: TestHost): Promise<string> {
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
  try {
    return JSON.stringify(await store.partsTo({ channel: "loopback", id: "owner" }));
  } finally {
    await store.close();
  }
}

test("an answer that waits to be sent is dropped", async () => {
  const { host, asked } = await openAway();
  host.beforeSend(() => {});
  await host.advance(120_000);
  expect(await asked).toMatchObject({ outcome: "silent", reason: "deleted_by_sender" });
  expect(host.outbox()).toEqual([]);
  expect(await stored(host)).not.toContain("7391");
  expect(await sentParts(host)).toContain('"deleted"');
  expect(await sentParts(host)).not.toContain("7391");
});

test("an answer that waits to be sent is dropped by the gateway after a kill, too", async () => {
  const { host, asked } = await openAway();
  await host.restart({ killed: true });
  host.beforeSend(() => {});
  expect(await asked).toMatchObject({ outcome: "silent", reason: "deleted_by_sender" });
  expect(host.outbox()).toEqual([]);
  expect(await sentParts(host)).not.toContain("7391");
});

test("an edited message is deleted with its edits, and with what the next turn would read of them", async () => {
  const { host, asked } = await open();
  await host.say("the code is 7391", { id: "1" });
  expect(await host.say("the code is 7392", { edits: "in-1" })).toMatchObject({ reason: "edit_noted" });
  expect(await host.say("the code is 7393?", { edits: "in-1" })).toMatchObject({ outcome: "answered" });
  expect(await host.say("the code is 7394?", { edits: "in-1" })).toMatchObject({ reason: "edit_noted" });
  await host.say("", { deletes: "in-1" });
  expect(await stored(host)).not.toMatch(/739\d/);
  await host.say("hello", { id: "2" });
  expect(asked().at(-1)).not.toMatch(/739\d/);
});
