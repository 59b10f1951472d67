/** What people see of an answer while it grows and when it is there, over the emulated platform. */
import { aroundEach, test } from "vitest";
import { definePlugin, type EngineTurn, type TurnEvent } from "../../core/sdk/contract.ts";
import { expect, inOwnTest } from "../support/own-test.ts";
import { type Conversation, type ConversationOptions, converse, kitchen, workshop } from "./conversation.ts";

aroundEach(inOwnTest);

const beginning = "This is long enough to be shown while it is being written, ";

/** Says the pieces one after the other, each seen before the next comes. */
async function* slowly(pieces: readonly string[], last: readonly TurnEvent[] = []): AsyncGenerator<TurnEvent> {
  for (const delta of pieces) {
    yield { type: "text", delta };
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  yield* last;
  yield { type: "done" };
}

const buttons = [
  [
    { text: "Yes", value: "y" },
    { text: "Long", value: "x".repeat(65) },
  ],
];

/** What the agent answers, by what it is asked. */
function script({ inbound }: EngineTurn): AsyncIterable<TurnEvent> | string {
  const asked = inbound.text.replace(/^@e2e_bot /, "");
  if (asked === "choose") return slowly([beginning, "so choose."], [{ type: "buttons", buttons }]);
  if (asked === "tell")
    return slowly([`[[reply_to_current]] The secret word: ${beginning}`, "and that is all. NO_REPLY"]);
  if (asked === "tags") return slowly([`[[reply_to_`, `current]]${beginning}`, "and that is all. NO_", "REPLY"]);
  return slowly([beginning, "and there is more of it."]);
}

async function open(options: ConversationOptions = {}): Promise<Conversation> {
  const place = await converse({ answer: script, ...options, channel: { streamMode: "partial", ...options.channel } });
  await place.start();
  return place;
}

/** Calls that show texts, in their order. */
const shown = ({ platform }: Conversation) =>
  platform.calls
    .list()
    .filter(({ method }) => ["sendMessage", "editMessageText", "deleteMessage", "setMessageReaction"].includes(method));

test.concurrent("a growing answer is one message that replies to its question and notifies with a sound", async () => {
  const place = await open({
    channel: { replyToMode: "first", ackReaction: "👀" },
    config: { messages: { ackReactionScope: "all", removeAckAfterReply: true } },
  });
  const asked = place.platform.act.say(place.ada, place.ada, "go on");
  await place.ended(1);
  const [answer, ...others] = place.messages(place.ada);
  expect(others).toEqual([]);
  expect(answer?.text).toBe(`${beginning}and there is more of it.`);
  expect(answer?.reply_to_message?.message_id).toBe(asked.message_id);
  await expect.poll(() => shown(place).at(-1)?.method).toBe("setMessageReaction");
  const calls = shown(place);
  // Seen, shown, answered in place, and only then no longer marked as seen.
  expect(calls[0]?.params.reaction).toMatchObject([{ emoji: "👀" }]);
  expect(calls.at(-1)?.params.reaction).toEqual([]);
  expect(calls.slice(1, -1).map(({ method }) => method)[0]).toBe("sendMessage");
  expect(new Set(calls.slice(2, -1).map(({ method }) => method))).toEqual(new Set(["editMessageText"]));
  expect(calls[1]?.params.disable_notification).toBeUndefined();
});

test.concurrent("with replyToMode all, each message of an answer is a reply", async () => {
  const place = await open({ channel: { replyToMode: "all", textChunkLimit: 50, streamMode: "off" } });
  const asked = place.platform.act.say(place.ada, place.ada, "go on");
  await place.ended(1);
  const replies = place.messages(place.ada).map(({ reply_to_message: replied }) => replied?.message_id);
  expect(replies.length).toBeGreaterThan(1);
  expect(new Set(replies)).toEqual(new Set([asked.message_id]));
});

test.concurrent("buttons are sent in a new message, and the preview is removed", async () => {
  const place = await open();
  place.platform.act.say(place.ada, place.ada, "choose");
  await place.ended(1);
  const [chosen, ...others] = place.messages(place.ada);
  expect(others).toEqual([]);
  expect(chosen).toMatchObject({
    text: `${beginning}so choose.`,
    reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "y" }]] },
  });
  const methods = shown(place).map(({ method }) => method);
  expect(methods.filter((method) => method !== "editMessageText")).toEqual([
    "sendMessage",
    "sendMessage",
    "deleteMessage",
  ]);
});

test.concurrent("the visible part of an answer stays after a stop, error or timeout, with the reason", async () => {
  const hung = "This is code:\n\n```js\nconst answer = 42; // and so on";
  const place = await open({
    config: { agents: { defaults: { timeoutSeconds: 3 } }, session: { dmScope: "per-peer" } },
    answer: ({ inbound }) => (inbound.text.endsWith("hang") ? hang() : broken()),
  });
  async function* hang(): AsyncGenerator<TurnEvent> {
    yield { type: "text", delta: hung };
    await new Promise(() => {});
  }
  /** Breaks when its beginning is seen, however long that takes. */
  async function* broken(): AsyncGenerator<TurnEvent> {
    yield { type: "text", delta: beginning };
    await expect.poll(() => said(bela).join()).toContain(beginning.trim());
    throw new Error("the model has a headache");
  }
  const { platform, ada, bela } = place;
  const said = (chat: number) => place.messages(chat).map(({ text }) => text);
  platform.act.say(ada, ada, "hang");
  await expect.poll(() => said(ada)).toHaveLength(1);
  platform.act.say(ada, ada, "/stop");
  platform.act.say(bela, bela, "break");
  expect([...(await place.ended(3))].sort()).toEqual(["answered answered", "failed engine_failed", "silent stopped"]);
  expect([...said(ada)].sort()).toEqual([
    "Stopped.",
    expect.stringMatching(/^This is code:\s+const answer = 42; \/\/ and so on\s+\(stopped\)$/),
  ]);
  // The note is no code.
  const stopped = place.messages(ada).find(({ text }) => text?.endsWith("(stopped)"));
  expect(
    stopped?.entities?.map(({ type, offset, length }) => [type, stopped.text?.slice(offset, offset + length).trim()]),
  ).toEqual([["pre", "const answer = 42; // and so on"]]);
  expect(said(bela)).toEqual([expect.stringMatching(new RegExp(`^${beginning.trim()}\\s+Sorry, .*could not answer`))]);
  platform.act.say(bela, bela, "hang");
  await place.ended(4);
  expect(said(bela)[1]).toMatch(/and so on\s+Sorry, the answer took too long/);
  // The model knows what people have read.
  expect(place.turns.at(-1)?.messages.map(({ role, text }) => [role, text.split("] ").at(-1)])).toEqual([
    ["user", "break"],
    ["assistant", `${beginning.trim()}\n\n(the answer failed)`],
    ["user", "hang"],
  ]);
  expect(shown(place).filter(({ method }) => method === "deleteMessage")).toEqual([]);
});

test.concurrent("a preview never shows tags, silence tokens or text that a plugin removes", async () => {
  const censor = definePlugin({
    id: "censor",
    version: "1.0.0",
    host: "^0.2.0",
    setup: (host) => host.tap("formatting", (reply) => ({ ...reply, text: reply.text.replaceAll("secret", "***") })),
  });
  const place = await open({
    plugins: [censor],
    channel: { responsePrefix: "[{identity.name}]" },
    config: { agents: { list: [{ id: "main", identity: { name: "Otto" } }] } },
  });
  place.platform.act.say(place.ada, place.ada, "tell");
  place.platform.act.say(place.bela, place.bela, "tags");
  await place.ended(2);
  const texts = shown(place).map(({ params }) => String(params.text ?? ""));
  expect(texts.length).toBeGreaterThan(3);
  for (const text of texts) {
    expect(text).not.toMatch(/secret|\[\[|reply_to|NO_/);
    if (text !== "") expect(text).toMatch(/^\[Otto\] /);
  }
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual([
    `[Otto] The *** word: ${beginning}and that is all.`,
  ]);
});

test.concurrent("simultaneous growing answers stay in their topics", async () => {
  const place = await open({ config: { agents: { defaults: { maxConcurrent: 4 } } } });
  const [paint, wood] = ["Paint", "Wood"].map((name) => place.platform.act.createTopic(place.ada, workshop, name));
  for (const thread of [paint, wood])
    place.platform.act.say(place.ada, workshop, "@e2e_bot go on", { thread: thread ?? 0 });
  place.platform.act.say(place.ada, kitchen, "@e2e_bot go on");
  // With those of the topics themselves.
  await place.ended(5);
  const where = place.messages(workshop).map(({ text, message_thread_id: thread }) => [thread, text]);
  expect(new Map(where as [number, string][])).toEqual(
    new Map([paint, wood].map((thread) => [thread, `${beginning}and there is more of it.`])),
  );
  expect(where).toHaveLength(2);
  expect(place.messages(kitchen)).toHaveLength(1);
});
