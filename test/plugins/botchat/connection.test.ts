/** What is sent, against the emulated platform over real HTTP. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address, Reply } from "service-gateway/sdk";
import type { ChannelConnection, Part, Receipt } from "service-gateway/sdk/channel";
import { describe, expect, test } from "vitest";
import type { PartBody } from "../../../plugins/botchat/send/part-body.ts";
import { createTestAccount, openConnection, until } from "./account.ts";
import { ada, callsOf, direct, forum, messageIn, never, openPlatform, quick, reply, start, token } from "./platform.ts";

async function sendAll(connection: ChannelConnection, what: Reply, address: Address = direct): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const part of connection.render(what, address)) receipts.push(await connection.send(part, address, never));
  return receipts;
}

const bodyOf = (part: Part | undefined) => part?.body as unknown as PartBody;
const topic = (thread: string): Address => ({ ...direct, chat: String(forum), thread });

async function startedWithAda(options: object = {}, more: object = {}) {
  const started = await start(options, more);
  started.platform.act.say(ada, ada, "hello");
  await until(() => started.account.received.length === 1, "the first message");
  return started;
}

describe("texts in both directions", () => {
  test("a person's text arrives, and a sent text is what the person reads", async () => {
    const { platform, account, connection } = await startedWithAda();
    const [first] = account.received;
    expect(first).toMatchObject({ lane: "botchat:default:1001", identity: "7000000001" });
    expect(connection.parse(first?.raw ?? null)).toMatchObject({
      kind: "message",
      text: "hello",
      sender: { id: "1001" },
      chat: { kind: "direct" },
    });
    const [receipt] = await sendAll(connection, reply("**bold** and `code` <raw>"));
    const message = messageIn(platform, receipt?.messageId);
    expect(message?.text).toBe("bold and code <raw>");
    expect(message?.entities?.map((entity) => entity.type)).toEqual(["bold", "code"]);
  });

  test("the strict platform accepts every Markdown construct", async () => {
    const { platform, connection } = await startedWithAda();
    const markdown =
      "# T\n\n> q **b** `c`\n> > n\n\n- a\n  - [x] b\n\n1. *i* ~~s~~ ||p `c`||\n\n```js\n<b>&amp;\n```\n\n| " +
      "a | b |\n|---|--:|\n| [l](https://x.y) | **2** |\n\n---\n[`l`](tg://user?id=1001) README.md <u>x</u> " +
      "**a `b` c**";
    await sendAll(connection, reply(markdown));
    expect(callsOf(platform, "sendMessage").map(({ status }) => status)).toEqual([200]);
  });

  test("a long text is sent in order, with each message within the limit", async () => {
    const { platform, connection } = await startedWithAda({ textChunkLimit: 100 });
    const receipts = await sendAll(
      connection,
      reply(Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ")),
    );
    expect(receipts.length).toBeGreaterThan(4);
    expect(receipts.map(({ messageId }) => messageIn(platform, messageId)?.text).join(" ")).toMatch(
      /^word0 word1 .* word59$/,
    );
  });

  test("a text with rejected markup is sent once more as plain text", async () => {
    const { platform, connection } = await startedWithAda();
    platform.faults.add({
      method: "sendMessage",
      times: 1,
      kind: "refuse",
      description: "Bad Request: can't parse entities: Unsupported start tag",
    });
    const [receipt] = await sendAll(connection, reply("**bold** <x>"));
    expect(messageIn(platform, receipt?.messageId)).toMatchObject({ text: "bold <x>" });
    expect(callsOf(platform, "sendMessage").map(({ params }) => params.parse_mode)).toEqual(["HTML", undefined]);
  });

  test("a plain text that is rejected too is not retried forever", async () => {
    const { platform, connection } = await startedWithAda();
    platform.faults.add({
      method: "sendMessage",
      times: 5,
      kind: "refuse",
      description: "Bad Request: can't parse entities: x",
    });
    await expect(sendAll(connection, reply("a"))).rejects.toMatchObject({ reason: "parse_entities" });
    expect(callsOf(platform, "sendMessage")).toHaveLength(2);
  });

  test("link previews can be turned off", async () => {
    const off = openConnection(createTestAccount({ botToken: token, linkPreview: false }));
    expect(bodyOf(off.render(reply("x"), direct)[0]).payload.link_preview_options).toEqual({ is_disabled: true });
    const on = openConnection(createTestAccount({ botToken: token }));
    expect(bodyOf(on.render(reply("x"), direct)[0]).payload).not.toHaveProperty("link_preview_options");
  });

  test("a person who blocked the bot is a separate failure reason", async () => {
    const { platform, connection } = await startedWithAda();
    platform.act.block(ada, true);
    await expect(sendAll(connection, reply("x"))).rejects.toMatchObject({
      reason: "blocked_by_user",
      retryable: false,
    });
  });

  test("a reset after the write has an unknown fate, and a flood wait is reported in full", async () => {
    const { platform, connection } = await startedWithAda();
    platform.faults.add({ method: "sendMessage", times: 1, kind: "reset-after" });
    await expect(sendAll(connection, reply("x"))).rejects.toMatchObject({ fate: "unknown", retryable: true });
    platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 77 });
    await expect(sendAll(connection, reply("x"))).rejects.toMatchObject({ fate: "not-sent", retryAfterMs: 77_000 });
  });
});

describe("replies", () => {
  test.each([
    ["off", undefined, [undefined, undefined]],
    ["first", undefined, ["9", undefined]],
    ["all", undefined, ["9", "9"]],
    ["off", "5", ["5", undefined]],
    ["first", "5", ["5", undefined]],
    ["all", "5", ["5", "5"]],
  ] as const)("with mode %s and the agent's target %s, the parts reply to %j", (replyToMode, replyTo, targets) => {
    const { render } = openConnection(createTestAccount({ botToken: token, replyToMode, textChunkLimit: 10 }));
    const parts = render(reply("one two three four", replyTo === undefined ? {} : { replyTo }), direct, {
      trigger: "9",
    });
    expect(parts.map((part) => part.replyTo)).toEqual(targets);
    // Only then has the preview replied to it already.
    expect(parts.every((part) => part.replyImplied === (part.replyTo === "9" ? true : undefined))).toBe(true);
    expect(render(reply("one two three four"), direct).every((part) => part.replyTo === undefined)).toBe(true);
  });

  test("are still sent if the target message is deleted", async () => {
    const { platform, connection } = await startedWithAda();
    const [receipt] = await sendAll(connection, reply("x", { replyTo: "4000" }));
    expect(messageIn(platform, receipt?.messageId)?.text).toBe("x");
    platform.faults.add({
      method: "sendMessage",
      times: 1,
      kind: "refuse",
      description: "Bad Request: message to be replied not found",
    });
    await sendAll(connection, reply("y", { replyTo: "4000" }));
  });
});

describe("an edit of a message", () => {
  test("replaces it and keeps its id", async () => {
    const { platform, connection } = await startedWithAda();
    const [receipt] = await sendAll(connection, reply("draft"));
    const [part] = connection.render(reply("final **text**", { replyTo: "1" }), direct);
    expect(await connection.send({ ...(part as Part), replaces: receipt?.messageId ?? "" }, direct, never)).toEqual(
      receipt,
    );
    expect(messageIn(platform, receipt?.messageId)?.text).toBe("final text");
  });

  test("is done if nothing changes, and sends a deleted message again", async () => {
    const { platform, connection } = await startedWithAda();
    const [receipt] = await sendAll(connection, reply("same"));
    const [part] = connection.render(reply("same"), direct);
    const again = { ...(part as Part), replaces: receipt?.messageId ?? "" };
    expect(await connection.send(again, direct, never)).toEqual(receipt);
    await connection.remove?.(receipt?.messageId ?? "", direct, never);
    const anew = await connection.send(again, direct, never);
    expect(anew.messageId).not.toBe(receipt?.messageId);
    expect(messageIn(platform, anew.messageId)?.text).toBe("same");
    await connection.remove?.(receipt?.messageId ?? "", direct, never);
  });
});

describe("threads", () => {
  test("General is omitted in a send and included in typing", async () => {
    const { platform, connection } = await startedWithAda();
    await sendAll(connection, reply("x"), topic("1"));
    await connection.typing?.(topic("1"));
    expect(callsOf(platform, "sendMessage").at(-1)?.params).not.toHaveProperty("message_thread_id");
    expect(Number(callsOf(platform, "sendChatAction").at(-1)?.params.message_thread_id)).toBe(1);
  });

  test("an answer goes to its topic; if the topic is deleted, the send fails instead of going to General", async () => {
    const { platform, connection } = await startedWithAda();
    const thread = platform.act.createTopic(ada, forum, "Plans");
    const [receipt] = await sendAll(connection, reply("x"), topic(String(thread)));
    expect(messageIn(platform, receipt?.messageId, forum)?.message_thread_id).toBe(thread);
    const before = platform.world.rooms.get(String(forum))?.messages.size;
    await expect(sendAll(connection, reply("x"), topic("999"))).rejects.toMatchObject({
      reason: "thread_gone",
      retryable: false,
    });
    expect(platform.world.rooms.get(String(forum))?.messages.size).toBe(before);
  });
});

describe("buttons", () => {
  const buttons = [
    [
      { text: "Yes", value: "y" },
      { text: "", value: "n" },
    ],
    [{ text: "Long", value: "ä".repeat(33) }],
  ];

  test("are on the last text part, and invalid ones are omitted", () => {
    const connection = openConnection(createTestAccount({ botToken: token, textChunkLimit: 10 }));
    const parts = connection.render(reply("one two three four", { buttons }), direct);
    expect(parts.map((part) => bodyOf(part).payload.reply_markup)).toEqual([
      undefined,
      { inline_keyboard: [[{ text: "Yes", callback_data: "y" }]] },
    ]);
    expect(parts.map(({ omitted }) => omitted)).toEqual([
      undefined,
      ['the button "": it has no text', 'the button "Long": its value is longer than 64 bytes'],
    ]);
  });

  test("send an immediate acknowledgement and an event with the pressed value", async () => {
    const { platform, account, connection } = await startedWithAda();
    const [receipt] = await sendAll(connection, reply("choose", { buttons }));
    platform.act.press(ada, ada, Number(receipt?.messageId), "y");
    await until(
      () => account.received.length === 2 && callsOf(platform, "answerCallbackQuery").length === 1,
      "the press",
    );
    expect(connection.parse(account.received[1]?.raw ?? null)).toMatchObject({
      kind: "press",
      text: "callback_data: y",
      messageId: receipt?.messageId,
    });
  });

  test("show the access notice if a press is refused, and no response if the check fails", async () => {
    const { platform, account, connection } = await startedWithAda();
    const [receipt] = await sendAll(connection, reply("choose", { buttons }));
    account.onCheck = async () => {
      throw new Error("the state does not answer");
    };
    platform.act.press(ada, ada, Number(receipt?.messageId), "y");
    const unanswered = () => account.logs.some(({ message }) => message === "a button press could not be answered");
    await until(unanswered, "the log line");
    account.onCheck = async () => false;
    platform.act.press(ada, ada, Number(receipt?.messageId), "y");
    await until(() => callsOf(platform, "answerCallbackQuery").length === 1, "the answer");
    expect(callsOf(platform, "answerCallbackQuery")[0]?.params).toMatchObject({ text: "You may not." });
  });
});

describe("files", () => {
  // The smallest PNG: one transparent pixel.
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  );

  test("are sent in their own type, with the text as caption of the first if it fits", async () => {
    const { platform, connection } = await startedWithAda();
    const directory = mkdtempSync(join(tmpdir(), "botchat-"));
    const picture = join(directory, "dot.png");
    const notes = join(directory, "notes.txt");
    writeFileSync(picture, png);
    writeFileSync(notes, "notes");
    const receipts = await sendAll(
      connection,
      reply("**look**", { media: [{ path: picture }, { path: notes }], buttons: [[{ text: "ok", value: "ok" }]] }),
    );
    const [first, second] = receipts.map(
      ({ messageId }) => messageIn(platform, messageId) as unknown as Record<string, unknown>,
    );
    expect(first).toMatchObject({ caption: "look", reply_markup: { inline_keyboard: [[{ text: "ok" }]] } });
    expect(first).toHaveProperty("photo");
    expect(second).toHaveProperty("document");
    expect(second).not.toHaveProperty("caption");
  });
});

describe("reactions, typing, names and the probe", () => {
  test("a reaction can be set and removed", async () => {
    const { platform, connection } = await startedWithAda();
    await connection.react?.("1", "👀", direct);
    await connection.react?.("1", null, direct);
    expect(callsOf(platform, "setMessageReaction").map(({ status }) => status)).toEqual([200, 200]);
    await expect(connection.react?.("1", "not an emoji", direct)).rejects.toMatchObject({ reason: "reaction_invalid" });
  });

  test("a numeric id is used as it is, even with a prefix, and a name is looked up", async () => {
    const { connection } = await startedWithAda();
    expect(await connection.resolve?.("tg:1001")).toBe("1001");
    expect(await connection.resolve?.("-100123")).toBe("-100123");
    expect(await connection.resolve?.("telegram:group:-100123")).toBe("-100123");
    expect(await connection.resolve?.("https://t.me/nobody_here").catch((error: Error) => error.message)).toContain(
      "chat not found",
    );
    await expect(connection.resolve?.("@nobody_here")).rejects.toMatchObject({ reason: "chat_not_found" });
    await expect(connection.resolve?.("somebody")).rejects.toMatchObject({ reason: "chat_not_found" });
  });

  test("the probe reports the bot and its connection, or the reason for a failure", async () => {
    const { platform, connection } = await startedWithAda();
    expect(await connection.probe?.()).toMatchObject({
      ok: true,
      detail: expect.stringContaining("@house_bot (7000000001), polling"),
    });
    platform.faults.add({ method: "getMe", times: 1, kind: "refuse", status: 401, description: "Unauthorized" });
    expect(await connection.probe?.()).toMatchObject({
      ok: false,
      detail: expect.stringContaining("the platform rejects the bot token: set botToken"),
    });
  });
});

describe("the menu", () => {
  const commands = [{ name: "help", summary: "Shows help." }];

  test("is registered once, and again only after a change", async () => {
    const { platform, connection } = await start(
      { customCommands: [{ command: "/Brew", description: "Tea" }] },
      { commands },
    );
    await until(() => callsOf(platform, "setMyCommands").length === 1, "the menu");
    await connection.menu?.(commands);
    expect(callsOf(platform, "setMyCommands")).toHaveLength(1);
    await connection.menu?.([]);
    expect(callsOf(platform, "setMyCommands").at(-1)?.params.commands).toEqual([
      { command: "brew", description: "Tea" },
    ]);
  });

  test("follows an edit of the configuration while polling continues", async () => {
    const { platform, connection, account } = await start({ polling: { ...quick, timeoutSeconds: 30 } }, { commands });
    await until(() => callsOf(platform, "setMyCommands").length === 1, "the menu");
    const polls = callsOf(platform, "getUpdates").length;
    connection.update?.({
      ...account.account.options,
      linkPreview: false,
      customCommands: [{ command: "brew", description: "Tea" }],
    });
    await until(() => callsOf(platform, "setMyCommands").length === 2, "the new menu");
    const [part] = connection.render(reply("see https://example.org"), direct);
    expect(bodyOf(part).payload.link_preview_options).toEqual({ is_disabled: true });
    expect(callsOf(platform, "getUpdates")).toHaveLength(polls);
  });

  test("reports unusable entries and omits them", async () => {
    const customCommands = ["help", "ok", "ok", "no-dash", "empty"].map((command) => ({
      command,
      description: command === "empty" ? " " : "x",
    }));
    const { platform, account } = await start({ customCommands }, { commands });
    await until(() => callsOf(platform, "setMyCommands").length === 1, "the menu");
    expect(
      callsOf(platform, "setMyCommands").flatMap(({ params }) =>
        (params.commands as { command: string }[]).map(({ command }) => command),
      ),
    ).toEqual(["help", "ok"]);
    expect(account.logs.filter(({ level }) => level === "error").map(({ message }) => message)).toEqual([
      expect.stringContaining("/help is already a command of the gateway"),
      expect.stringContaining("/ok is listed twice"),
      expect.stringContaining('"no-dash" is not a command name'),
      expect.stringContaining("/empty has no description"),
    ]);
  });

  test("logs a failure with a remedy and retries until it is registered", async () => {
    const platform = await openPlatform();
    platform.faults.add({ method: "setMyCommands", times: 1, kind: "reset-before" });
    const { account } = await start({}, { platform, commands });
    await until(
      () => account.logs.some(({ message }) => /^setMyCommands failed: .*check the network/.test(message)),
      "the log line",
    );
    await until(() => callsOf(platform, "setMyCommands").some(({ status }) => status === 200), "the menu");
  });

  test("is set if a server cannot list its menu, and a server without menus is asked only once", async () => {
    const platform = await openPlatform();
    const unknown = { kind: "refuse", status: 404, description: "Not Found: method not found" } as const;
    platform.faults.add({ method: "getMyCommands", times: 3, ...unknown });
    const { connection, account } = await start({}, { platform, commands });
    await until(() => callsOf(platform, "setMyCommands").some(({ status }) => status === 200), "the menu");
    platform.faults.add({ method: "setMyCommands", times: 9, ...unknown });
    await connection.menu?.([]);
    expect(
      account.logs.map(({ message }) => message).filter((message) => message.startsWith("setMyCommands failed")),
    ).toEqual([expect.stringContaining("has no menu of commands")]);
    const asked = callsOf(platform, "setMyCommands").length;
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(callsOf(platform, "setMyCommands")).toHaveLength(asked);
  });

  test("is restored when another program changes it", async () => {
    const { platform, connection } = await start({}, { commands });
    await until(() => callsOf(platform, "setMyCommands").length === 1, "the menu");
    await fetch(`${platform.url}/bot${token}/deleteMyCommands`, { method: "POST" });
    await connection.menu?.(commands);
    expect(callsOf(platform, "setMyCommands")).toHaveLength(2);
  });

  test("contains at most a hundred entries, and the omitted ones are reported", async () => {
    const customCommands = Array.from({ length: 102 }, (_, index) => ({ command: `c${index}`, description: "x" }));
    const { platform, account } = await start({ customCommands }, { commands });
    await until(() => callsOf(platform, "setMyCommands").length === 1, "the menu");
    expect(callsOf(platform, "setMyCommands")[0]?.params.commands).toHaveLength(100);
    expect(account.logs.map(({ message }) => message)).toContain("the menu holds 100 commands; 3 are left out");
  });
});

test("close leaves no open resources and can be called twice", async () => {
  const platform = await openPlatform();
  const account = createTestAccount({
    botToken: token,
    apiRoot: platform.url,
    polling: { ...quick, timeoutSeconds: 50 },
  });
  const connection = openConnection(account);
  await connection.start();
  // Without the time that the poll takes, which is longer than a test may.
  await connection.close();
  await connection.close();
  await expect(
    connection.send({ kind: "text", chars: 1, body: { method: "sendMessage", payload: { text: "x" } } }, direct, never),
  ).rejects.toMatchObject({ fate: "not-sent" });
});
