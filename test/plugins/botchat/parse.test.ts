import fc from "fast-check";
import type { Json } from "service-gateway/sdk";
import type { ChannelInbound } from "service-gateway/sdk/channel";
import { describe, expect, test } from "vitest";
import { parseUpdate } from "../../../plugins/botchat/intake/parse.ts";
import { laneOf } from "../../../plugins/botchat/intake/place.ts";

const bot = { id: "7000000001", username: "House_Bot" };
const ada = { id: 1001, is_bot: false, first_name: "Ada", last_name: "Lind", username: "ada" };
const botUser = { id: 7000000001, is_bot: true, first_name: "House", username: "House_Bot" };
const privateChat = { id: 1001, type: "private", first_name: "Ada" };
const group = { id: -100123, type: "supergroup", title: "Kitchen" };
const forum = { ...group, is_forum: true };

function message(more: object): Json {
  return {
    update_id: 1,
    message: { message_id: 5, date: 1_700_000_000, chat: privateChat, from: ada, ...more },
  } as Json;
}
const parse = (raw: Json) => parseUpdate(raw, bot);

/** What somebody said or did; nothing when the update is not ours or silent. */
function said(raw: Json): ChannelInbound | undefined {
  const parsed = parse(raw);
  return parsed === null || parsed === undefined || "silent" in parsed ? undefined : parsed;
}

describe("a message", () => {
  test("is parsed in a direct chat", () => {
    expect(parse(message({ text: "hi" }))).toEqual({
      kind: "message",
      chat: { id: "1001", kind: "direct" },
      sender: { id: "1001", name: "Ada Lind", username: "ada" },
      text: "hi",
      media: [],
      mention: false,
      timestamp: 1_700_000_000_000,
      messageId: "5",
    });
  });

  test("has its own kind and time if it is an edit", () => {
    expect(
      parse({
        edited_message: {
          ...(message({ text: "hi" }) as never as { message: object }).message,
          edit_date: 1_700_000_009,
        },
      } as Json),
    ).toMatchObject({
      kind: "edit",
      timestamp: 1_700_000_009_000,
    });
  });

  test("from the bot itself is ignored", () => {
    expect(parse(message({ from: botUser, text: "hi" }))).toEqual({ silent: "own_message" });
  });

  test("in a channel has the channel as its sender", () => {
    const post = { message_id: 5, date: 1, chat: { id: -1009, type: "channel", title: "News" }, text: "x" };
    expect(parse({ channel_post: post })).toMatchObject({
      chat: { kind: "channel", id: "-1009" },
      sender: { id: "-1009", name: "News", anonymous: true },
    });
  });

  test("sent on behalf of a chat has that chat as its sender, never the placeholder user", () => {
    expect(
      parse(
        message({
          chat: group,
          from: { id: 1087968824, is_bot: true, first_name: "Group" },
          sender_chat: group,
          text: "x",
        }),
      ),
    ).toMatchObject({
      sender: { id: "-100123", anonymous: true },
    });
  });

  test("from a person is not anonymous", () => {
    expect(parse(message({ text: "x" }))).toMatchObject({ sender: expect.not.objectContaining({ anonymous: true }) });
  });

  test("without any content from a person is ignored", () => {
    expect(parse(message({ chat: group, new_chat_members: [ada] }))).toEqual({ silent: "service_new_chat_members" });
  });

  test.each([
    [group, "left", "member", "bot_added"],
    [group, "member", "administrator", "bot_rights_changed"],
    [group, "member", "kicked", "bot_removed"],
    [privateChat, "member", "kicked", "bot_blocked"],
    [privateChat, "kicked", "member", "bot_unblocked"],
  ])("about the bot's own membership is silent with its reason: %o %s to %s", (chat, before, after, reason) => {
    const change = {
      chat,
      from: ada,
      date: 1,
      old_chat_member: { status: before },
      new_chat_member: { status: after },
    };
    expect(parse({ my_chat_member: change } as Json)).toEqual({ silent: reason });
  });

  test.each([
    ["a direct chat", { chat: privateChat }, undefined],
    ["a direct chat's topic", { chat: privateChat, message_thread_id: 7, is_topic_message: true }, "7"],
    ["a plain group", { chat: group }, undefined],
    ["a reply thread of a plain group", { chat: group, message_thread_id: 9 }, undefined],
    ["General of a forum", { chat: forum }, "1"],
    ["a reply in General", { chat: forum, message_thread_id: 9 }, "1"],
    ["a topic of a forum", { chat: forum, message_thread_id: 12, is_topic_message: true }, "12"],
  ])("has the thread and lane of %s", (_name, more, thread) => {
    const raw = message({ ...more, text: "x" });
    expect(said(raw)?.chat.thread).toBe(thread);
    expect(laneOf(raw, "work")).toBe(
      `botchat:work:${(more.chat as { id: number }).id}${thread === undefined ? "" : `:${thread}`}`,
    );
  });
});

describe("a mention is an entity of this bot, never just a piece of text", () => {
  const entity = (source: string, type: string, text: string, more: object = {}) => ({
    chat: group,
    text: source,
    entities: [{ type, offset: source.indexOf(text), length: text.length, ...more }],
  });
  test.each([
    ["by name", entity("hey @house_bot", "mention", "@house_bot"), true],
    ["by name in another case", entity("hey @HOUSE_BOT", "mention", "@HOUSE_BOT"), true],
    ["of a longer name", entity("hey @house_bot2", "mention", "@house_bot2"), false],
    ["text that only looks like it", { chat: group, text: "mail x@house_bot" }, false],
    ["by a person's entity", entity("hey House", "text_mention", "House", { user: botUser }), true],
    ["of another person", entity("hey Ada", "text_mention", "Ada", { user: ada }), false],
    ["a command for this bot", entity("/start@house_bot now", "bot_command", "/start@house_bot"), true],
    ["a command for another bot, further on", entity("try /start@other_bot", "bot_command", "/start@other_bot"), false],
    ["a plain command", entity("/start", "bot_command", "/start"), false],
    [
      "a reply to the bot",
      { chat: group, text: "x", reply_to_message: { message_id: 3, from: botUser, chat: group, text: "y" } },
      true,
    ],
    [
      "a reply to the bot from another topic",
      {
        chat: forum,
        text: "x",
        external_reply: { origin: { type: "user", date: 1, sender_user: botUser }, chat: forum, message_id: 3 },
      },
      true,
    ],
    [
      "a reply to a person from another topic",
      {
        chat: forum,
        text: "x",
        external_reply: { origin: { type: "user", date: 1, sender_user: ada }, chat: forum, message_id: 3 },
      },
      false,
    ],
    [
      "a reply to a person",
      { chat: group, text: "x", reply_to_message: { message_id: 3, from: ada, chat: group, text: "y" } },
      false,
    ],
    [
      "a topic that the bot opened",
      {
        chat: forum,
        text: "x",
        is_topic_message: true,
        message_thread_id: 3,
        reply_to_message: { message_id: 3, from: botUser, chat: forum, forum_topic_created: { name: "t" } },
      },
      false,
    ],
    [
      "in a caption",
      {
        chat: group,
        photo: [{ file_id: "p", width: 1, height: 1 }],
        caption: "@house_bot",
        caption_entities: [{ type: "mention", offset: 0, length: 10 }],
      },
      true,
    ],
  ])("%s", (_name, more, expected) => expect(said(message(more))?.mention).toBe(expected));

  test("also in the question of a poll and in the title of a checklist", () => {
    const entities = [{ type: "mention", offset: 0, length: 10 }];
    const poll = { question: "@house_bot which?", question_entities: entities, options: [] };
    const checklist = { title: "@house_bot please", title_entities: entities, tasks: [] };
    expect(said(message({ chat: group, poll }))?.mention).toBe(true);
    expect(said(message({ chat: group, checklist }))?.mention).toBe(true);
    expect(said(message({ chat: group, poll: { ...poll, question_entities: [] } }))?.mention).toBe(false);
  });

  test("so a group command for another bot is ignored unless it also mentions this one", () => {
    const command = entity("/start@other_bot now", "bot_command", "/start@other_bot");
    expect(parse(message(command))).toMatchObject({ silent: "command_for_another_bot" });
    expect(parse(message({ ...command, chat: privateChat }))).toMatchObject({ text: "/start@other_bot now" });
    const reply = { reply_to_message: { message_id: 3, from: botUser, chat: group, text: "y" } };
    expect(parse(message({ ...command, ...reply }))).toMatchObject({ mention: true });
    expect(parse(message(entity("/start@HOUSE_bot", "bot_command", "/start@HOUSE_bot")))).toMatchObject({
      mention: true,
    });
    expect(parseUpdate(message(command), { id: bot.id })).toMatchObject({ mention: false });
  });

  test("and before the bot's name is known, only mentions that need no name count", () => {
    const raw = message(entity("hey @house_bot", "mention", "@house_bot"));
    expect(parseUpdate(raw, { id: bot.id })).toMatchObject({ mention: false });
  });
});

describe("other content of a message", () => {
  test.each([
    [
      "photo",
      {
        photo: [
          { file_id: "s", width: 1, height: 1 },
          { file_id: "l", width: 9, height: 9, file_size: 5 },
        ],
      },
      "<media:image>",
      [{ kind: "image", ref: "l", size: 5 }],
    ],
    [
      "photo with caption",
      { caption: "look", photo: [{ file_id: "s", width: 1, height: 1 }] },
      "<media:image>\nlook",
      [{ kind: "image", ref: "s" }],
    ],
    [
      "video",
      { video: { file_id: "v", mime_type: "video/mp4", file_name: "a.mp4" } },
      "<media:video>",
      [{ kind: "video", ref: "v", mimeType: "video/mp4", fileName: "a.mp4" }],
    ],
    ["video note", { video_note: { file_id: "n" } }, "<media:video>", [{ kind: "video", ref: "n" }]],
    [
      "animation, which is a document too",
      { animation: { file_id: "g" }, document: { file_id: "g" } },
      "<media:video>",
      [{ kind: "video", ref: "g" }],
    ],
    ["audio", { audio: { file_id: "a" } }, "<media:audio>", [{ kind: "audio", ref: "a" }]],
    ["voice", { voice: { file_id: "o" } }, "<media:audio>", [{ kind: "voice", ref: "o" }]],
    ["document", { document: { file_id: "d" } }, "<media:document>", [{ kind: "document", ref: "d" }]],
    ["sticker", { sticker: { file_id: "t", emoji: "👍" } }, "<media:sticker> 👍", [{ kind: "sticker", ref: "t" }]],
    ["location", { location: { latitude: 1.5, longitude: -2 } }, "📍 1.500000, -2.000000", []],
    [
      "live location",
      { location: { latitude: 1.5, longitude: -2, live_period: 60 } },
      "🛰 Live location: 1.500000, -2.000000",
      [],
    ],
    [
      "venue",
      {
        venue: { title: "Pub", address: "Road 1", location: { latitude: 1, longitude: 2 } },
        location: { latitude: 1, longitude: 2 },
      },
      "📍 Pub, Road 1 (1.000000, 2.000000)",
      [],
    ],
    ["contact", { contact: { first_name: "Bo", phone_number: "+1" } }, "👤 Contact: Bo, +1", []],
    [
      "poll",
      { poll: { question: "Tea?", options: [{ text: "Yes" }, { text: "No" }] } },
      "📊 Poll: Tea?\n- Yes\n- No",
      [],
    ],
    ["dice", { dice: { emoji: "🎯", value: 4 } }, "🎯 4", []],
    ["game", { game: { title: "Chess" } }, "🎮 Game: Chess", []],
    [
      "checklist",
      {
        checklist: {
          title: "Buy",
          tasks: [
            { id: 1, text: "milk" },
            { id: 2, text: "tea", completion_date: 5 },
          ],
        },
      },
      "Buy\n- [ ] milk\n- [x] tea",
      [],
    ],
  ])("%s", (_name, more, text, media) => expect(parse(message(more))).toMatchObject({ text, media }));

  test("includes reply, quote and forward", () => {
    const reply = { message_id: 3, date: 1, chat: privateChat, from: ada, text: "before" };
    expect(said(message({ text: "x", reply_to_message: reply, quote: { text: "bef" } }))?.replyTo).toEqual({
      messageId: "3",
      sender: "Ada Lind (@ada)",
      text: "before",
      quote: "bef",
    });
    expect(
      said(
        message({
          text: "x",
          external_reply: { origin: { type: "channel", chat: { id: -1, title: "News" }, message_id: 4 } },
        }),
      )?.replyTo,
    ).toEqual({ sender: "News" });
    expect(
      said(message({ text: "x", reply_to_story: { id: 3, chat: { ...privateChat, first_name: "Ada" } } }))?.replyTo,
    ).toMatchObject({
      sender: expect.stringContaining("Ada"),
      text: "<media:story>",
    });
    expect(
      said(message({ text: "x", forward_origin: { type: "hidden_user", sender_user_name: "Eve", date: 9 } }))?.forward,
    ).toEqual({
      from: "Eve",
      timestamp: 9_000,
    });
    expect(said(message({ text: "x", forward_origin: { type: "user", sender_user: ada, date: 9 } }))?.forward).toEqual({
      from: "Ada Lind (@ada)",
      timestamp: 9_000,
    });
    const inlineBot = { id: 9, is_bot: true, first_name: "Cats", username: "cats_bot" };
    expect(said(message({ text: "x", via_bot: inlineBot }))?.forward).toEqual({ from: "the bot Cats (@cats_bot)" });
  });
});

test("a poll includes its description and the content shown with it and its options", () => {
  const poll = {
    question: "Which one?",
    description: "For the kitchen",
    media: { photo: [{ file_id: "p", width: 1, height: 1 }] },
    options: [
      { text: "oak", media: { sticker: { file_id: "s", emoji: "🌳" } } },
      { text: "here", media: { location: { latitude: 1, longitude: 2 } } },
      { text: "that", media: { link: { url: "https://example.com" } } },
      { text: "none", media: { poll: { media: { photo: [{ file_id: "x" }] } } } },
    ],
  };
  expect(parse(message({ poll }))).toMatchObject({
    text:
      "📊 Poll: Which one?\nFor the kitchen\n<media:image>\n- oak <media:sticker> 🌳\n- here 📍 " +
      "1.000000, 2.000000\n- that https://example.com\n- none",
    media: [
      { kind: "image", ref: "p" },
      { kind: "sticker", ref: "s" },
    ],
  });
});

test("a reply to a checklist task or a poll option quotes it", () => {
  const to = (reply: object) => ({ message_id: 3, date: 1, chat: privateChat, from: ada, ...reply });
  const checklist = to({
    checklist: {
      title: "Buy",
      tasks: [
        { id: 1, text: "milk" },
        { id: 2, text: "tea" },
      ],
    },
  });
  const poll = to({
    poll: {
      question: "When?",
      options: [
        { persistent_id: "a", text: "now" },
        { persistent_id: "b", text: "later" },
      ],
    },
  });
  const quoteOf = (more: object) => said(message({ text: "x", ...more }))?.replyTo?.quote;
  expect(quoteOf({ reply_to_message: checklist, reply_to_checklist_task_id: 2 })).toBe("tea");
  expect(quoteOf({ reply_to_message: poll, reply_to_poll_option_id: "b" })).toBe("later");
  expect(quoteOf({ reply_to_message: checklist, reply_to_checklist_task_id: 9 })).toBeUndefined();
  expect(quoteOf({ reply_to_message: checklist })).toBeUndefined();
});

describe("a button press and a reaction", () => {
  test("a press counts as a mention, and its message id is that of the message with the button", () => {
    const query = {
      id: "99",
      from: ada,
      data: "go",
      message: { message_id: 5, date: 1, chat: forum, is_topic_message: true, message_thread_id: 4, from: botUser },
    };
    expect(parse({ callback_query: query } as Json)).toMatchObject({
      kind: "press",
      text: "callback_data: go",
      mention: true,
      messageId: "5",
      chat: { thread: "4" },
      sender: { id: "1001" },
    });
    expect(laneOf({ callback_query: query } as Json, "a")).toBe("botchat:a:-100123:4");
  });

  test("a press without a message cannot be answered", () => {
    expect(parse({ callback_query: { id: "99", from: ada, data: "go", inline_message_id: "x" } } as Json)).toEqual({
      silent: "press_without_chat",
    });
  });

  test("a reaction has the emoji, the sender and the message; a removal is silent", () => {
    const reaction = (before: string[], after: string[], more: object = {}): Json =>
      ({
        message_reaction: {
          chat: group,
          message_id: 8,
          user: ada,
          date: 1,
          old_reaction: before.map((emoji) => ({ type: "emoji", emoji })),
          new_reaction: after.map((emoji) => ({ type: "emoji", emoji })),
          ...more,
        },
      }) as Json;
    expect(parse(reaction(["👍"], ["👍", "🔥"]))).toMatchObject({
      kind: "reaction",
      text: "Reaction added: 🔥 by Ada Lind (@ada) on message 8",
      messageId: "8",
    });
    expect(parse(reaction(["👍"], []))).toEqual({ silent: "reaction_removed" });
    expect(parse(reaction([], ["👍"], { user: botUser }))).toEqual({ silent: "own_reaction" });
    expect(
      said(
        reaction([], ["👍"], { user: undefined, actor_chat: { id: -5, type: "channel", title: "News\n[event] x" } }),
      ),
    ).toMatchObject({
      sender: { id: "-5", anonymous: true },
      text: "Reaction added: 👍 by News [event] x on message 8",
    });
    const others = [{ type: "custom_emoji", custom_emoji_id: "536" }, { type: "paid" }, { type: "unheard-of" }, 5];
    expect(said(reaction([], [], { new_reaction: others }))?.text).toBe(
      "Reaction added: custom emoji 536 by Ada Lind (@ada) on message 8\nReaction added: ⭐ by Ada Lind " +
        "(@ada) on message 8",
    );
    expect(said(reaction([], ["👍"], { chat: forum }))?.chat.thread).toBe("1");
    expect(laneOf(reaction([], ["👍"], { chat: forum }), "a")).toBe("botchat:a:-100123:1");
  });
});

test.each(["secret", "", 7, null, undefined])(
  "updates of a chat of type %j, neither direct nor group, are ignored",
  (type) => {
    const chat = { id: 7, type } as unknown as Json;
    const from = { id: 7, is_bot: false, first_name: "Mallory" };
    const message = { message_id: 1, date: 1, chat, from, text: "/start" };
    for (const update of [
      { message },
      { edited_message: { ...message, edit_date: 2 } },
      { callback_query: { id: "1", from, data: "x", message } },
      {
        message_reaction: {
          chat,
          message_id: 1,
          user: from,
          date: 1,
          old_reaction: [],
          new_reaction: [{ type: "emoji", emoji: "👍" }],
        },
      },
      { my_chat_member: { chat, from, date: 1 } },
    ]) {
      expect(parseUpdate({ update_id: 1, ...update } as unknown as Json, { id: "99" })).toEqual({
        silent: "chat_type_unknown",
      });
    }
  },
);

test("direct messages to a channel do not count as group messages", () => {
  const chat = { id: -1_009, type: "supergroup", title: "News", is_direct_messages: true };
  const message = {
    message_id: 7,
    date: 1,
    chat,
    from: { id: 1, first_name: "Ada" },
    text: "hi",
    direct_messages_topic: { topic_id: 5 },
  };
  const press = { id: "1", from: message.from, data: "a", message };
  for (const update of [{ message }, { edited_message: message }, { callback_query: press }])
    expect(parse({ update_id: 1, ...update } as never)).toEqual({ silent: "channel_direct_messages" });
});

describe("junk", () => {
  test.each([
    null,
    1,
    "x",
    [],
    {},
    { message: null },
    { message: [] },
    { message: {} },
    { message: { chat: {} } },
    { poll: {} },
    { update_id: 1, unknown: {} },
  ] as Json[])("%j is not recognized", (raw) => {
    expect(parse(raw)).toBeUndefined();
  });

  test("parsing never throws when any part of an update is replaced", () => {
    const full = message({
      text: "hey @house_bot",
      entities: [
        { type: "mention", offset: 4, length: 10 },
        { type: "text_link", offset: 0, length: 3, url: "https://x.y" },
      ],
      reply_to_message: { message_id: 3, from: ada, chat: group, text: "y", entities: [] },
      forward_origin: { type: "user", sender_user: ada, date: 1 },
      photo: [{ file_id: "a", width: 1, height: 2 }],
      poll: { question: "q", options: [{ text: "o" }] },
    });
    const paths: (readonly (string | number)[])[] = [];
    const walk = (value: unknown, path: readonly (string | number)[]) => {
      paths.push(path);
      if (typeof value === "object" && value !== null)
        for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
    };
    walk(full, []);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, junk) => {
        const copy: { root: Json } = { root: structuredClone(full) };
        let holder = copy as unknown as Record<string, unknown>;
        for (const key of ["root", ...path].slice(0, -1)) holder = holder[key] as Record<string, unknown>;
        holder[String(["root", ...path].at(-1))] = junk;
        const raw = copy.root;
        parse(raw);
        expect(laneOf(raw, "a")).toMatch(/^botchat:a:/);
      }),
      { numRuns: 2_000 },
    );
  });
});
