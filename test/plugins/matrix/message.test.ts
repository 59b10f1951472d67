import { expect, test } from "vitest";
import { parse } from "../../../plugins/matrix/message.ts";

const bot = { id: "@bot:hs.test", names: ["Breadbot", "bot"] };
const ada = "@ada:hs.test";
const direct = { id: "!direct:hs.test", direct: true };
const group = { id: "!group:hs.test", direct: false };

/** What the gateway reads in an event of Ada. */
function read(
  content: object,
  { room = group as object, type = "m.room.message", sender = ada, ...more }: Record<string, unknown> = {},
) {
  const event = {
    type,
    event_id: "$1",
    sender,
    origin_server_ts: 1_760_000_000_000,
    content: { msgtype: "m.text", ...content },
  };
  return parse({ bot, room, event, ...more } as never) as Record<string, unknown>;
}

const pill = (id: string) => ({
  format: "org.matrix.custom.html",
  formatted_body: `<a href="https://matrix.to/#/${id}">someone</a> hi`,
});

test.each([
  ["a list of mentions", { body: "bread?", "m.mentions": { user_ids: [bot.id] } }, true, "bread?"],
  ["a link to the bot", { body: "someone hi", "m.mentions": {}, ...pill(bot.id) }, true, "someone hi"],
  [
    "an escaped link to the bot",
    { body: "someone hi", "m.mentions": {}, ...pill("%40bot%3Ahs.test") },
    true,
    "someone hi",
  ],
  ["a link to another", { body: "someone hi", "m.mentions": {}, ...pill("@bot:hs.test.evil") }, false, "someone hi"],
  ["its name at the beginning", { body: "Breadbot: !status", "m.mentions": {} }, true, "!status"],
  ["its id at the beginning", { body: "@bot:hs.test: hi", "m.mentions": {} }, true, "hi"],
  ["its id in the middle", { body: "ask @bot:hs.test", "m.mentions": {} }, true, "ask @bot:hs.test"],
  ["its name in the middle, from a client without mentions", { body: "ask Breadbot" }, true, "ask Breadbot"],
  [
    "a word like its name, from a client with mentions",
    { body: "every bot sleeps", "m.mentions": {} },
    false,
    "every bot sleeps",
  ],
  ["everyone in the room", { body: "@room hi", "m.mentions": { room: true } }, false, "@room hi"],
  [
    "an id that begins like its own",
    { body: "ask @bot:hs.test.evil", "m.mentions": {} },
    false,
    "ask @bot:hs.test.evil",
  ],
])("a message in a room with %s addresses the bot or not, as people see it", (_, content, mention, text) => {
  expect(read(content)).toMatchObject({ mention, mentionedByName: mention, text });
});

const reply = (id: string) => ({ "m.relates_to": { "m.in_reply_to": { event_id: id } } });

test("a reply to the bot addresses it without naming it, and quotes what it answers", () => {
  const about = { type: "m.room.message", event_id: "$0", sender: bot.id, content: { msgtype: "m.text", body: "42" } };
  const content = { body: "why?", "m.mentions": { user_ids: [bot.id] }, ...reply("$0") };
  expect(read(content, { about })).toMatchObject({
    ...{ mention: true, mentionedByName: false, text: "why?" },
    replyTo: { messageId: "$0", sender: bot.id, text: "42" },
  });
});

test("the quote that older clients write into a reply is not a part of its text, and a typed quote is", () => {
  expect(read({ body: "> <@eve:hs.test> one\n> two\n\nthree", ...reply("$0") })).toMatchObject({ text: "three" });
  expect(read({ body: "> one\n\ntwo", ...reply("$0") })).toMatchObject({ text: "> one\n\ntwo" });
  expect(read({ body: "> <@eve:hs.test> one\n\ntwo" })).toMatchObject({ text: "> <@eve:hs.test> one\n\ntwo" });
});

test("HTML is never read: the text is what the client shows without it", () => {
  const formatted_body = '<script>alert(1)</script><img src="mxc://x/y" onerror="x"><h1>Obey</h1>';
  expect(
    read({ body: "<b>hi</b> &amp;", format: "org.matrix.custom.html", formatted_body }, { room: direct }),
  ).toMatchObject({
    text: "<b>hi</b> &amp;",
    mention: true,
  });
});

const edit = {
  body: "* new",
  "m.new_content": { msgtype: "m.text", body: "new" },
  "m.relates_to": { rel_type: "m.replace", event_id: "$0" },
};

test("an edit has the id of its message and its thread, and one of another person's message has no effect", () => {
  const about = {
    event_id: "$0",
    sender: ada,
    content: { "m.relates_to": { rel_type: "m.thread", event_id: "$root" } },
  };
  expect(read(edit, { about })).toMatchObject({
    kind: "edit",
    messageId: "$0",
    text: "new",
    chat: { thread: "$root" },
  });
  expect(read(edit)).toMatchObject({ kind: "edit", messageId: "$0" });
  expect(read(edit, { about: { ...about, sender: "@eve:hs.test" } })).toEqual({ silent: "message_unknown" });
});

test.each([
  ["of room version 11", { content: { redacts: "$0" } }],
  ["of earlier versions", { content: {}, redacts: "$0" }],
])("a redaction %s is a deletion by its sender", (_, event) => {
  const raw = { bot, room: direct, event: { type: "m.room.redaction", event_id: "$2", sender: ada, ...event } };
  expect(parse(raw as never)).toMatchObject({
    kind: "delete",
    text: "",
    messageId: "$0",
    sender: { id: ada },
    chat: { id: ada },
  });
});

test("a reaction is a sentence for the agent, with the message that it is about", () => {
  const content = { "m.relates_to": { rel_type: "m.annotation", event_id: "$0", key: "👍" } };
  expect(read(content, { type: "m.reaction", name: "Ada" })).toMatchObject({
    ...{ kind: "reaction", messageId: "$0", text: "Reaction added: 👍 by Ada (@ada:hs.test) on message $0" },
  });
});

test.each([
  [
    "a picture",
    { msgtype: "m.image", body: "cat.png", url: "mxc://hs.test/1" },
    "<media:image>",
    { kind: "image", fileName: "cat.png" },
  ],
  [
    "a picture with a caption",
    { msgtype: "m.image", body: "my cat", filename: "cat.png", url: "mxc://hs.test/1" },
    "my cat",
    { kind: "image", fileName: "cat.png" },
  ],
  [
    "a voice message",
    { msgtype: "m.audio", body: "v.ogg", url: "mxc://hs.test/1", "org.matrix.msc3245.voice": {} },
    "<media:audio>",
    { kind: "voice" },
  ],
  [
    "a file",
    { msgtype: "m.file", body: "a.pdf", url: "mxc://hs.test/1", info: { size: 9, mimetype: "application/pdf" } },
    "<media:document>",
    { kind: "document", size: 9 },
  ],
  [
    "an address of the web in place of a file",
    { msgtype: "m.image", body: "cat.png", url: "http://10.0.0.1/" },
    "cat.png",
    undefined,
  ],
])("%s is read with its file", (_, content, text, file) => {
  const { text: found, media } = read(content);
  expect(found).toBe(text);
  expect(media).toEqual(file === undefined ? undefined : [expect.objectContaining(file)]);
});

test("a notice is the message of a bot, an emote names its writer, and a place is text", () => {
  expect(read({ msgtype: "m.notice", body: "Breadbot: hi" })).toMatchObject({ sender: { isBot: true } });
  expect(read({ msgtype: "m.emote", body: "waves" }, { name: "Ada" })).toMatchObject({ text: "* Ada waves" });
  expect(read({ msgtype: "m.location", body: "Here", geo_uri: "geo:1,2" })).toMatchObject({ text: "Here\ngeo:1,2" });
});

test("what cannot be read is silent with its reason", () => {
  expect(read({ algorithm: "m.megolm.v1.aes-sha2" }, { type: "m.room.encrypted" })).toMatchObject({
    silent: "room_encrypted",
    detail: "@ada:hs.test wrote in !group:hs.test.",
  });
  expect(read({}, { room: direct })).toEqual({ silent: "service_message" });
  expect(read({ body: "hi" }, { sender: bot.id })).toEqual({ silent: "own_message" });
  expect(read({ body: "hi" }, { type: "org.example.other" })).toBeUndefined();
});

test("a room that is replaced by another one moves with its settings", () => {
  const content = { body: "moved", replacement_room: "!new:hs.test" };
  expect(read(content, { type: "m.room.tombstone" })).toMatchObject({
    kind: "migration",
    migratedTo: "!new:hs.test",
    chat: { id: group.id },
  });
});
