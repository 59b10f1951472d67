import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ada, bela, callBot, kitchen, openPlatform, type TestPlatform, token, workshop } from "./client.ts";

let home: TestPlatform;
beforeAll(async () => {
  home = await openPlatform();
});
afterAll(() => home.platform.close());

const notModified =
  "message is not modified: specified new message content and reply markup are exactly the same as a " +
  "current content and reply markup of the message";
const keyboard = (data: string) => ({ inline_keyboard: [[{ text: "Go", callback_data: data }]] });

describe("restrictions on a send", () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ["no text", { chat_id: ada }, "message text is empty"],
    ["an empty text", { chat_id: ada, text: "" }, "message text is empty"],
    ["only white space", { chat_id: ada, text: " \n " }, "text must be non-empty"],
    ["no chat", { text: "x" }, "chat_id is empty"],
    ["an unknown person", { chat_id: 99, text: "x" }, "chat not found"],
    ["an unknown group", { chat_id: -5, text: "x" }, "chat not found"],
    ["an unknown name", { chat_id: "@nobody", text: "x" }, "chat not found"],
    ["4097 characters", { chat_id: ada, text: "x".repeat(4097) }, "message is too long"],
    ["4096 characters of two units each", { chat_id: ada, text: "😀".repeat(2049) }, "message is too long"],
    [
      "an unknown message to answer",
      { chat_id: ada, text: "x", reply_parameters: { message_id: 999 } },
      "message to be replied not found",
    ],
    [
      "the older way to answer, too",
      { chat_id: ada, text: "x", reply_to_message_id: 999 },
      "message to be replied not found",
    ],
    [
      "a quote that is not there",
      { chat_id: ada, text: "x", reply_parameters: { message_id: 1, quote: "nope" } },
      "QUOTE_TEXT_INVALID",
    ],
    ["a thread in a direct chat", { chat_id: ada, text: "x", message_thread_id: 7 }, "message thread not found"],
    ["the General topic's id", { chat_id: workshop, text: "x", message_thread_id: 1 }, "message thread not found"],
    ["an unknown topic", { chat_id: workshop, text: "x", message_thread_id: 999 }, "message thread not found"],
    [
      "an unknown thread of a group",
      { chat_id: kitchen, text: "x", message_thread_id: 999 },
      "message thread not found",
    ],
    [
      "65 bytes of button data",
      { chat_id: ada, text: "x", reply_markup: keyboard("é".repeat(33)) },
      "BUTTON_DATA_INVALID",
    ],
    ["empty button data", { chat_id: ada, text: "x", reply_markup: keyboard("") }, "BUTTON_DATA_INVALID"],
    [
      "a button that does nothing",
      { chat_id: ada, text: "x", reply_markup: { inline_keyboard: [[{ text: "x" }]] } },
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    ],
    [
      "an invalid number",
      { chat_id: ada, text: "x", message_thread_id: "seven" },
      'field "message_thread_id" must be a valid Number',
    ],
  ];
  test.each(cases)("%s", async (_name, params, reason) => {
    const answer = await home.call("sendMessage", params);
    expect([answer.status, answer.description]).toEqual([400, `Bad Request: ${reason}`]);
  });

  test("4096 characters after removing the tags are accepted", async () => {
    const answer = await home.call("sendMessage", {
      chat_id: ada,
      text: `<b>${"&lt;".repeat(4096)}</b>`,
      parse_mode: "HTML",
    });
    expect(answer.result.text).toHaveLength(4096);
  });

  test("a bot cannot write to a person who never wrote to it", async () => {
    const answer = await home.call("sendMessage", { chat_id: bela, text: "x" });
    expect([answer.status, answer.description]).toEqual([
      403,
      "Forbidden: bot can't initiate conversation with a user",
    ]);
  });

  test("a person who blocked the bot is unreachable until they unblock it", async () => {
    home.platform.act.say(1003, 1003, "hi");
    home.platform.act.block(1003, true);
    const answer = await home.call("sendMessage", { chat_id: 1003, text: "x" });
    expect([answer.status, answer.description]).toEqual([403, "Forbidden: bot was blocked by the user"]);
    home.platform.act.block(1003, false);
    expect((await home.call("sendMessage", { chat_id: 1003, text: "x" })).ok).toBe(true);
  });

  test("a bot that was removed from a group cannot write there", async () => {
    await using other = await openPlatform();
    other.platform.act.setMember(kitchen, 7_000_000_001, "kicked");
    const kicked = await other.call("sendMessage", { chat_id: kitchen, text: "x" });
    expect([kicked.status, kicked.description]).toEqual([403, "Forbidden: bot was kicked from the supergroup chat"]);
  });

  test("a wrong token gets 401, and an unknown method gets 404", async () => {
    expect((await callBot(home.platform.url, "1:wrong", "getMe", {})).status).toBe(401);
    const unknown = await callBot(home.platform.url, token, "getNothing", {});
    expect([unknown.status, unknown.description]).toEqual([404, "Not Found: method not found"]);
  });
});

describe("formats of parameters", () => {
  test("query, form and multipart work like JSON, with method names in any case", async () => {
    const base = `${home.platform.url}/bot${token}`;
    const byQuery = (await (await fetch(`${base}/SENDMESSAGE?chat_id=${ada}&text=a%20b`)).json()) as {
      result: { text: string };
    };
    expect(byQuery.result.text).toBe("a b");
    const form = new URLSearchParams({ chat_id: String(ada), text: "c", reply_markup: JSON.stringify(keyboard("x")) });
    const byForm = (await (await fetch(`${base}/sendMessage`, { method: "POST", body: form })).json()) as {
      result: { reply_markup: object };
    };
    expect(byForm.result.reply_markup).toEqual(keyboard("x"));
    expect((await home.form("sendMessage", { chat_id: String(ada), text: "d" })).result.text).toBe("d");
  });

  test("a body of more than 1 MB gets 413 unless it carries files", async () => {
    const answer = await home.call("sendMessage", { chat_id: ada, text: "x".repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
  });

  test("an invalid JSON body is refused with an explanation", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${home.platform.url}/bot${token}/sendMessage`, { method: "POST", headers, body: "{" });
    expect(answer.status).toBe(400);
  });
});

describe("replies and topics", () => {
  test("a reply to a deleted message is sent if that is allowed", async () => {
    const reply_parameters = { message_id: 999, allow_sending_without_reply: true };
    const { result } = await home.call("sendMessage", { chat_id: ada, text: "x", reply_parameters });
    expect(result.reply_to_message).toBeUndefined();
  });

  test("a replied-to message is shown without its own replied-to message", async () => {
    const first = await home.call("sendMessage", { chat_id: ada, text: "a", reply_parameters: { message_id: 1 } });
    const second = await home.call("sendMessage", {
      chat_id: ada,
      text: "b",
      reply_parameters: { message_id: first.result.message_id },
    });
    expect(second.result.reply_to_message.text).toBe("a");
    expect(second.result.reply_to_message.reply_to_message).toBeUndefined();
  });

  test("in a forum, the thread id selects the topic, and without one the message is in General", async () => {
    const topic = [...(home.platform.world.group(workshop)?.topics.values() ?? [])].find(
      (one) => one.name === "Ideas",
    )?.id;
    const inTopic = await home.call("sendMessage", { chat_id: workshop, text: "x", message_thread_id: topic });
    expect(inTopic.result).toMatchObject({ message_thread_id: topic, is_topic_message: true });
    const general = await home.call("sendMessage", { chat_id: workshop, text: "x" });
    expect(general.result.message_thread_id).toBeUndefined();
    expect((await home.call("sendChatAction", { chat_id: workshop, action: "typing", message_thread_id: 1 })).ok).toBe(
      true,
    );
  });

  test("a closed topic accepts no messages", async () => {
    const topic = home.platform.act.createTopic(ada, workshop, "Short");
    home.platform.act.closeTopic(ada, workshop, topic);
    const answer = await home.call("sendMessage", { chat_id: workshop, text: "x", message_thread_id: topic });
    expect(answer.description).toBe("Bad Request: TOPIC_CLOSED");
  });

  test("a message in a topic replies to the topic's creation message unless it replies to another one", async () => {
    const topic = home.platform.act.createTopic(ada, workshop, "Fresh");
    const message = home.platform.act.say(ada, workshop, "x", { thread: topic });
    expect(message).toMatchObject({ message_thread_id: topic, is_topic_message: true });
    expect(message.reply_to_message?.forum_topic_created?.name).toBe("Fresh");
  });

  test("a group that became a supergroup reports its new id", async () => {
    home.platform.world.addGroup({ id: -77, type: "group", title: "Small" });
    const next = home.platform.act.migrate(ada, -77);
    const answer = await home.call("sendMessage", { chat_id: -77, text: "x" });
    expect(answer.status).toBe(400);
    expect(answer.parameters).toEqual({ migrate_to_chat_id: next });
    expect((await home.call("sendMessage", { chat_id: next, text: "x" })).ok).toBe(true);
  });
});

describe("editing and deleting", () => {
  const sent = async (params: object = {}) =>
    (await home.call("sendMessage", { chat_id: ada, text: "old", ...params })).result.message_id;

  test("an edit changes the text and sets the edit time", async () => {
    const message_id = await sent();
    const { result } = await home.call("editMessageText", {
      chat_id: ada,
      message_id,
      text: "<b>new</b>",
      parse_mode: "HTML",
    });
    expect(result).toMatchObject({ message_id, text: "new", edit_date: expect.any(Number) });
  });

  test("an edit with the same text and buttons is refused as not modified", async () => {
    const message_id = await sent({ reply_markup: keyboard("a") });
    const answer = await home.call("editMessageText", {
      chat_id: ada,
      message_id,
      text: " old ",
      reply_markup: keyboard("a"),
    });
    expect([answer.status, answer.description]).toEqual([400, `Bad Request: ${notModified}`]);
  });

  test("an edit without buttons removes them", async () => {
    const message_id = await sent({ reply_markup: keyboard("a") });
    const { result } = await home.call("editMessageReplyMarkup", { chat_id: ada, message_id });
    expect(result.reply_markup).toBeUndefined();
  });

  test("a message that is missing, not the bot's own or without text cannot be edited", async () => {
    const edit = (message_id: number) => home.call("editMessageText", { chat_id: ada, message_id, text: "x" });
    expect((await edit(99_999)).description).toBe("Bad Request: message to edit not found");
    expect((await edit(1)).description).toBe("Bad Request: message can't be edited");
    const file = await home.form("sendDocument", { chat_id: String(ada), document: new File(["x"], "x.txt") });
    expect((await edit(file.result.message_id)).description).toBe(
      "Bad Request: there is no text in the message to edit",
    );
  });

  test("the bot can delete others' messages only in direct chats or as an administrator", async () => {
    const message_id = await sent();
    expect((await home.call("deleteMessage", { chat_id: ada, message_id })).result).toBe(true);
    expect((await home.call("deleteMessage", { chat_id: ada, message_id })).description).toBe(
      "Bad Request: message to delete not found",
    );
    const theirs = home.platform.act.say(ada, kitchen, "keep me").message_id;
    expect((await home.call("deleteMessage", { chat_id: kitchen, message_id: theirs })).description).toBe(
      "Bad Request: message can't be deleted",
    );
  });
});

describe("reactions, button presses, commands and members", () => {
  test("only the platform's own emoji are reactions, one per message, with or without a variation mark", async () => {
    const react = (...emoji: string[]) =>
      home.call("setMessageReaction", {
        chat_id: ada,
        message_id: 1,
        reaction: emoji.map((one) => ({ type: "emoji", emoji: one })),
      });
    expect((await react("👀")).result).toBe(true);
    expect((await react("❤️")).result).toBe(true);
    expect((await react("🧀")).description).toBe("Bad Request: REACTION_INVALID");
    expect((await react("👀", "🔥")).description).toBe("Bad Request: REACTIONS_TOO_MANY");
    expect((await react()).result).toBe(true);
  });

  test("a press is answered once, and only if its id is known", async () => {
    const { result } = await home.call("sendMessage", { chat_id: ada, text: "x", reply_markup: keyboard("go") });
    const callback_query_id = home.platform.act.press(ada, ada, result.message_id, "go");
    const noticed = home.platform.waitFor((event) => event.type === "notice");
    expect((await home.call("answerCallbackQuery", { callback_query_id, text: "Done" })).result).toBe(true);
    expect(await noticed).toMatchObject({ personId: ada, text: "Done", alert: false });
    const tooOld = "Bad Request: query is too old and response timeout expired or query ID is invalid";
    expect((await home.call("answerCallbackQuery", { callback_query_id })).description).toBe(tooOld);
  });

  test.each([
    [[{ command: "Help", description: "x" }], "BOT_COMMAND_INVALID"],
    [[{ command: "a-b", description: "x" }], "BOT_COMMAND_INVALID"],
    [[{ command: "x".repeat(33), description: "x" }], "BOT_COMMAND_INVALID"],
    [[{ command: "help", description: " " }], "BOT_COMMAND_DESCRIPTION_INVALID"],
    [[{ command: "help", description: "x".repeat(257) }], "BOT_COMMAND_DESCRIPTION_INVALID"],
    [Array.from({ length: 101 }, (_, n) => ({ command: `c${n}`, description: "x" })), "BOT_COMMANDS_TOO_MUCH"],
  ])("invalid commands are refused (%#)", async (commands, reason) => {
    expect((await home.call("setMyCommands", { commands })).description).toBe(`Bad Request: ${reason}`);
  });

  test("commands are stored by scope and language until they are deleted", async () => {
    const commands = [{ command: "help", description: "Shows help" }];
    const scope = { type: "chat", chat_id: ada };
    await home.call("setMyCommands", { commands, scope });
    expect((await home.call("getMyCommands", { scope })).result).toEqual(commands);
    expect((await home.call("getMyCommands")).result).toEqual([]);
    await home.call("deleteMyCommands", { scope });
    expect((await home.call("getMyCommands", { scope })).result).toEqual([]);
  });

  test("a username resolves only to a person who wrote to the bot", async () => {
    home.platform.act.say(ada, ada, "hello");
    home.platform.world.addPerson({ id: 1044, first_name: "Dora", username: "dora" });
    expect((await home.call("getChat", { chat_id: "@Ada_Lind" })).result).toMatchObject({ id: ada, type: "private" });
    expect((await home.call("getChat", { chat_id: "@dora" })).description).toBe("Bad Request: chat not found");
    expect((await home.call("sendMessage", { chat_id: "@ada_lind", text: "x" })).description).toBe(
      "Bad Request: chat not found",
    );
  });

  test("chats and members are described as they are", async () => {
    expect((await home.call("getChat", { chat_id: workshop })).result).toMatchObject({
      type: "supergroup",
      title: "Workshop",
      is_forum: true,
    });
    expect((await home.call("getChatMember", { chat_id: kitchen, user_id: ada })).result.status).toBe("creator");
    expect((await home.call("getChatMember", { chat_id: kitchen, user_id: 7_000_000_001 })).result.status).toBe(
      "member",
    );
    expect((await home.call("getChat", { chat_id: 5 })).description).toBe("Bad Request: chat not found");
    expect((await home.call("sendChatAction", { chat_id: ada, action: "dancing" })).description).toBe(
      "Bad Request: wrong parameter action in request",
    );
  });
});
