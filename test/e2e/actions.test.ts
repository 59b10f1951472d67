/** What an agent does besides answering, and what a program does with the gateway token, over the emulated platform. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { EngineTurn, Json } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import { sound } from "../../plugins/echo/sound.ts";
import { createPlatform, type Message, type Platform } from "../../plugins/playground/platform/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { kitchen, workshop } from "./conversation.ts";
import { botToken, hookToken, openChannel, people, postHook } from "./room.ts";

type Result = { readonly ok: boolean } & Readonly<Record<string, Json>>;
type Agent = (turn: EngineTurn, use: (tool: string, args: object) => Promise<Result>) => Promise<string>;

let platform: Platform;
let host: TestHost;
let ada = 0;
let bela = 0;
let agent: Agent = async () => "NO_REPLY";

beforeAll(async () => {
  platform = await createPlatform({ bots: [{ token: botToken, username: "e2e_bot", name: "E2E", privacy: false }] });
  [ada = 0, bela = 0] = people(platform);
  const directory = temporaryDirectory();
  const channel = openChannel(platform, {
    streamMode: "off",
    groupPolicy: "open",
    allowFrom: ["*", ada],
    groups: { "*": {}, [workshop]: {} },
    actions: { sticker: true },
  });
  host = await createTestHost({
    directory,
    plugins: [botchat],
    answer: (turn, signal) =>
      agent(turn, async (name, args) => {
        const tool = turn.tools.find((one) => one.name === name);
        if (tool === undefined) throw new Error(`there is no tool ${name}`);
        return (await tool.run(args as Json, signal)) as Result;
      }),
    // One turn at a time: a tool that waited for a turn would wait for its own.
    config: {
      commands: { ownerAllowFrom: undefined },
      agents: { defaults: { maxConcurrent: 1, workspace: "agent" } },
      channels: { botchat: channel },
      hooks: { token: hookToken },
    },
  });
  return async () => {
    await host.close();
    await platform.close();
    removeDirectory(directory);
  };
});

afterEach(() => {
  agent = async () => "NO_REPLY";
});

/** A turn of the agent, caused by a message of Ada's. */
async function turn(
  run: Agent,
  { chat = ada, thread }: { readonly chat?: number; readonly thread?: number } = {},
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  let result: Result | undefined;
  agent = async (at, use) => {
    const answer = await run(at, async (name, args) => {
      result = await use(name, args);
      return result;
    }).catch((error: unknown) => {
      reject(error as Error);
      return "NO_REPLY";
    });
    resolve(result ?? { ok: false, code: "no_call" });
    return answer;
  };
  platform.act.say(ada, chat, "@e2e_bot go", thread === undefined ? {} : { thread });
  return await promise;
}

/** One call, in a turn that answers nothing. */
const call = (
  name: string,
  args: object,
  at: { readonly chat?: number; readonly thread?: number } = {},
): Promise<Result> =>
  turn(async (_turn, use) => {
    await use(name, args);
    return "NO_REPLY";
  }, at);

async function post(body: object, token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim()) {
  const response = await fetch(`${host.url}/gateway/actions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Result };
}

const roomOf = (chat: number) => [...platform.world.rooms.values()].find((room) => room.chat.id === chat);
const messageIn = (chat: number, id: Json | undefined): Message | undefined => roomOf(chat)?.messages.get(Number(id));
const ideas = () => [...(platform.world.group(workshop)?.topics.keys() ?? [])].find((id) => id !== 1) ?? 0;

describe("an agent", () => {
  test("sends text with buttons to the current chat and gets the message id", async () => {
    const result = await call("send", {
      message: "**Tea?**",
      buttons: [[{ text: "Yes", callback_data: "tea:yes" }]],
      silent: true,
    });
    expect(result).toEqual({ ok: true, messageId: expect.any(String), chatId: String(ada) });
    expect(messageIn(ada, result.messageId)).toMatchObject({
      text: "Tea?",
      reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "tea:yes" }]] },
    });
    expect(platform.calls.list({ method: "sendMessage" }).at(-1)?.params.disable_notification).toBeTruthy();
  });

  test("stays in the current topic unless it names another", async () => {
    const topic = ideas();
    const here = await call("send", { message: "here" }, { chat: workshop, thread: topic });
    expect(messageIn(workshop, here.messageId)).toMatchObject({ text: "here", message_thread_id: topic });
    const there = await call("send", { to: `${workshop}:topic:${topic}`, message: "there" });
    expect(messageIn(workshop, there.messageId)).toMatchObject({ text: "there", message_thread_id: topic });
  });

  test("edits and deletes its message", async () => {
    const sent = await call("send", { message: "one" });
    const edited = await call("edit", { chatId: ada, messageId: sent.messageId, message: "_two_" });
    expect(edited).toEqual({ ok: true, messageId: sent.messageId, chatId: String(ada) });
    expect(messageIn(ada, sent.messageId)).toMatchObject({ text: "two", entities: [{ type: "italic" }] });
    expect(await call("delete", { messageId: sent.messageId })).toEqual({ ok: true });
    expect(messageIn(ada, sent.messageId)).toBeUndefined();
    expect(await call("edit", { messageId: sent.messageId, message: "three" })).toMatchObject({
      ok: false,
      code: "message_gone",
    });
    expect(await call("delete", { messageId: sent.messageId })).toEqual({ ok: true });
  });

  test("gets an error if it may not delete a message, for example without administrator rights", async () => {
    const id = platform.act.say(ada, kitchen, "mine").message_id;
    expect(await call("delete", { messageId: id }, { chat: kitchen })).toMatchObject({
      ok: false,
      code: "delete_refused",
    });
    expect(messageIn(kitchen, id)?.text).toBe("mine");
  });

  test("reacts to the current message and removes its reaction", async () => {
    let id: string | undefined;
    const set = await turn(async (at, use) => {
      id = at.inbound.messageId;
      await use("react", { emoji: "👍" });
      return "NO_REPLY";
    });
    expect(set).toEqual({ ok: true });
    const reactions = () => JSON.stringify([...(roomOf(ada)?.reactions.get(Number(id))?.values() ?? [])]);
    expect(reactions()).toContain("👍");
    expect(await call("react", { messageId: id, emoji: "" })).toEqual({ ok: true });
    expect(reactions()).not.toContain("👍");
    expect(await call("react", { messageId: id, emoji: "xyz" })).toMatchObject({ ok: false, code: "reaction_invalid" });
  });

  test("writes only to people and groups that the configuration names", async () => {
    expect(await call("send", { to: String(ada), message: "a note" }, { chat: kitchen })).toMatchObject({
      ok: true,
      chatId: String(ada),
    });
    expect(await call("send", { to: String(workshop), message: "news" })).toMatchObject({ ok: true });
    const before = platform.calls.list({ method: "sendMessage" }).length;
    expect(await call("send", { to: String(bela), message: "psst" })).toEqual({
      ok: false,
      code: "recipient_not_allowed",
      error: `channels.botchat.allowFrom does not name ${bela}: the agent may not write there.`,
    });
    expect(await call("send", { to: String(kitchen), message: "psst" })).toMatchObject({
      code: "recipient_not_allowed",
      error: expect.stringContaining("channels.botchat.groups does not name"),
    });
    expect(platform.calls.list({ method: "sendMessage" })).toHaveLength(before);
  });

  test("keeps the buttons of a message unless it sets others", async () => {
    const rows = [[{ text: "Yes", callback_data: "y" }]];
    const { messageId } = await call("send", { message: "Tea?", buttons: rows });
    await call("edit", { messageId, message: "Coffee?" });
    expect(messageIn(ada, messageId)).toMatchObject({ text: "Coffee?", reply_markup: { inline_keyboard: rows } });
    await call("edit", { messageId, message: "Nothing", buttons: [] });
    expect(JSON.stringify(messageIn(ada, messageId))).not.toContain("Yes");
  });

  test("finds a sticker that it has seen before and sends it", async () => {
    const form = new FormData();
    form.set("chat_id", String(ada));
    form.set("sticker", new Blob(["RIFF____WEBPVP8 "], { type: "image/webp" }), "tea.webp");
    const known = await fetch(`${platform.url}/bot${botToken}/sendSticker`, { method: "POST", body: form });
    const sticker = ((await known.json()) as { readonly result: { readonly sticker: { readonly file_id: string } } })
      .result.sticker.file_id;
    const stickers = {
      u1: {
        description: "A cat with tea",
        emoji: "🫖",
        setName: "pets",
        fileIds: { [botToken.split(":")[0] ?? ""]: sticker },
      },
    };
    writeFileSync(
      join(host.directory, "state", "botchat", "sticker-cache.json"),
      JSON.stringify({ version: 1, stickers }),
    );
    const found = await call("sticker-search", { query: "tea" });
    expect(found).toEqual({
      ok: true,
      stickers: [{ fileId: sticker, emoji: "🫖", setName: "pets", description: "A cat with tea" }],
    });
    const sent = await call("sticker", { fileId: sticker });
    expect(sent).toEqual({ ok: true, messageId: expect.any(String), chatId: String(ada) });
    expect(messageIn(ada, sent.messageId)?.sticker).toBeDefined();
  });

  test("sends only files from its workspace; otherwise nothing is sent and the agent learns why", async () => {
    const workspace = join(host.directory, "agent");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "list.txt"), "bread");
    const sent = await call("send", { media: "list.txt", message: "The list", fileName: "shopping.txt" });
    expect(messageIn(ada, sent.messageId)).toMatchObject({
      caption: "The list",
      document: { file_name: "shopping.txt" },
    });
    const before = roomOf(ada)?.messages.size ?? 0;
    for (const media of [
      join(host.directory, "state", "gateway-token"),
      "/etc/hostname",
      "http://127.0.0.1/secret.png",
    ]) {
      expect(await call("send", { media, message: "look" })).toMatchObject({ ok: false, code: "media_unavailable" });
    }
    // What Ada wrote to have the agent try, and nothing of the bot's.
    expect(roomOf(ada)?.messages.size).toBe(before + 3);
  });

  test("sends a file as a voice note, or as a video note with its text as a separate message", async () => {
    const workspace = join(host.directory, "agent");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "silence.mp3"), Buffer.from(sound(), "base64"));
    // The smallest that is taken for a film: its first box.
    writeFileSync(join(workspace, "film.mp4"), Buffer.from("000000186674797069736f6d0000020069736f6d6d703432", "hex"));
    const voice = await call("send", { media: "silence.mp3", asVoice: true, message: "Listen" });
    expect(messageIn(ada, voice.messageId)).toMatchObject({ caption: "Listen", voice: expect.anything() });
    const before = roomOf(ada)?.messages.size ?? 0;
    expect(await call("send", { media: "film.mp4", asVideoNote: true, message: "Look" })).toMatchObject({ ok: true });
    const sent = [...(roomOf(ada)?.messages.values() ?? [])].slice(before).filter(({ from }) => from?.is_bot === true);
    expect(sent.map(({ video_note, text, caption }) => [video_note !== undefined, text, caption])).toEqual([
      [true, undefined, undefined],
      [false, "Look", undefined],
    ]);
  });

  test("replies after its tools, and two identical calls send two messages", async () => {
    const said = () => [...(roomOf(ada)?.messages.values() ?? [])].map(({ text }) => text);
    await turn(async (_turn, use) => {
      await use("send", { message: "twice" });
      await use("send", { message: "twice" });
      return "that was it";
    });
    await expect.poll(() => said().slice(-3)).toEqual(["twice", "twice", "that was it"]);
  });
});

describe("a turn caused by a hook", () => {
  test("replies in the topic that the hook names, and its tools cannot write elsewhere", async () => {
    const topic = ideas();
    const results: Result[] = [];
    agent = async ({ inbound }, use) => {
      if (inbound.kind !== "hook") return "NO_REPLY";
      results.push(
        await use("send", { message: "a tool was here" }),
        await use("send", { to: String(ada), message: "psst" }),
      );
      return "the build is green";
    };
    await postHook(host.url, "agent", {
      message: "the build?",
      channel: "botchat",
      to: `${workshop}:topic:${topic}`,
      wakeMode: "next-heartbeat",
    });
    const said = () =>
      [...(roomOf(workshop)?.messages.values() ?? [])].slice(-2).map((one) => `${one.message_thread_id} ${one.text}`);
    await expect.poll(said).toEqual([`${topic} a tool was here`, `${topic} the build is green`]);
    expect(results).toMatchObject([{ ok: true }, { ok: false, code: "recipient_not_allowed" }]);
  });
});

describe("a program with the gateway token", () => {
  test("uses the same actions and names the target", async () => {
    platform.act.say(bela, bela, "hello");
    const { status, body } = await post({ action: "send", channel: "botchat", to: bela, message: "from a script" });
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, messageId: expect.any(String), chatId: String(bela) },
    });
    expect(messageIn(bela, body.messageId)?.text).toBe("from a script");
    expect(
      await post({ action: "react", channel: "botchat", chatId: bela, messageId: body.messageId, emoji: "🎉" }),
    ).toMatchObject({
      status: 200,
      body: { ok: true },
    });
  });

  test("can use the long action names and their alternative spellings", async () => {
    const channel = { channel: "botchat" };
    const { body } = await post({ ...channel, action: "sendMessage", to: ada, content: "one" });
    expect(messageIn(ada, body.messageId)?.text).toBe("one");
    const named = { ...channel, chatId: ada, messageId: body.messageId };
    expect((await post({ ...named, action: "editMessage", content: "_two_" })).body).toMatchObject({
      ok: true,
      messageId: body.messageId,
    });
    expect(messageIn(ada, body.messageId)).toMatchObject({ text: "two", entities: [{ type: "italic" }] });
    expect((await post({ ...named, action: "deleteMessage" })).body).toEqual({ ok: true });
    expect(messageIn(ada, body.messageId)).toBeUndefined();
  });

  test("gets an error message with a matching status", async () => {
    expect(await post({ action: "send", channel: "botchat", message: "whom?" })).toMatchObject({
      status: 400,
      body: { ok: false, code: "invalid_arguments", error: "to is missing: there is no current chat." },
    });
    expect(await post({ action: "dance" })).toMatchObject({ status: 400, body: { code: "action_unknown" } });
    expect(await post({ action: "send", channel: "botchat", to: "42424242", message: "?" })).toMatchObject({
      status: 502,
      body: { code: "chat_not_found" },
    });
    expect(await post({ action: "send", channel: "irc", to: "1", message: "?" })).toMatchObject({
      status: 503,
      body: { code: "account_not_open" },
    });
    expect((await post({ action: "send" }, "wrong")).status).toBe(401);
  });

  test("cannot use an invalid id as a topic, a reply target or a message to delete", async () => {
    // A bot also polls meanwhile.
    const made = () => platform.calls.list().filter(({ method }) => method !== "getUpdates").length;
    const before = made();
    const ask = (more: object) => post({ channel: "botchat", to: workshop, action: "send", message: "x", ...more });
    for (const wrong of [
      { threadId: "abc" },
      { threadId: 2.5 },
      { threadId: 0 },
      { replyTo: "abc" },
      { replyTo: "-1" },
      { action: "delete", message: undefined, messageId: "0x1f" },
      { action: "edit", messageId: "abc" },
      { action: "react", message: undefined, messageId: "abc", emoji: "🎉" },
      { threadId: "abc", dryRun: true },
    ]) {
      expect(await ask(wrong), JSON.stringify(wrong)).toMatchObject({
        status: 400,
        body: { ok: false, code: "invalid_arguments" },
      });
    }
    expect((await ask({ to: `${workshop}:topic:0` })).body.error).toBe(
      'to: the topic must be a whole number from 1 on, not "0".',
    );
    expect((await ask({ threadId: "abc" })).body.error).toBe('thread must be a whole number from 1 on, not "abc".');
    expect(made()).toBe(before);
  });

  test("can send every example on the page about actions", async () => {
    const page = readFileSync(join(import.meta.dirname, "..", "..", "examples", "reference", "actions.md"), "utf8");
    const body = /-d '(.+)'/.exec(page)?.[1] ?? "";
    expect(await post({ ...(JSON.parse(body) as object), dryRun: true })).toMatchObject({
      status: 200,
      body: { ok: true, dryRun: true, chatId: "42", parts: [{ kind: "text", chars: 19 }] },
    });
  });

  test("is informed if only part of a long message was sent", async () => {
    // The first part passes, the second is refused.
    platform.faults.add({ method: "sendMessage", times: 1, kind: "delay", ms: 0 });
    platform.faults.add({
      method: "sendMessage",
      times: 1,
      kind: "refuse",
      status: 400,
      description: "Bad Request: not enough rights",
    });
    const { status, body } = await post({ action: "send", channel: "botchat", to: ada, message: "x".repeat(5_000) });
    expect({ status, ...body }).toEqual({
      status: 502,
      ok: false,
      code: "no_rights",
      error: expect.stringMatching(
        /not enough rights\. Add the bot .*, or grant the right in the chat's settings\. Part of it was sent, as message \d+\.$/,
      ),
    });
  });

  test("sees in a dry run what would be sent", async () => {
    const before = platform.calls.list({ method: "sendMessage" }).length;
    const { body } = await post({
      action: "send",
      channel: "botchat",
      to: `${workshop}:${ideas()}`,
      message: "x".repeat(5_000),
      dryRun: true,
    });
    expect(body).toMatchObject({ ok: true, dryRun: true, chatId: String(workshop), threadId: String(ideas()) });
    expect(body.parts).toEqual([
      { kind: "text", chars: 4_000 },
      { kind: "text", chars: 1_000 },
    ]);
    expect(platform.calls.list({ method: "sendMessage" })).toHaveLength(before);
  });
});
