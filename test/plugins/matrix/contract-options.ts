/** How the contract is held against the channel: on a homeserver that fails on demand. */
import type { ChannelContractOptions } from "service-gateway/testkit";
import { openPlatform, token } from "./platforms.ts";

const bot = { id: "@bot:hs.test", names: ["Breadbot", "bot"] };
const direct = { id: "!direct:hs.test", direct: true };
const group = { id: "!group:hs.test", direct: false, title: "Bakery" };
const at = 1_760_000_000_000;
const from = (sender: string, content: object, more: object = {}) => ({
  ...{
    type: "m.room.message",
    event_id: "$1",
    sender,
    origin_server_ts: at,
    content: { msgtype: "m.text", ...content },
  },
  ...more,
});
const ada = "@ada:hs.test";
const message = { bot, room: direct, name: "Ada", event: from(ada, { body: "Hello" }) };
const root = { rel_type: "m.thread", event_id: "$root", is_falling_back: true, "m.in_reply_to": { event_id: "$root" } };
const pill = '<a href="https://matrix.to/#/@bot:hs.test">Breadbot</a>, hello';
const named = { format: "org.matrix.custom.html", formatted_body: pill, "m.mentions": { user_ids: [bot.id] } };

export const contract: Omit<ChannelContractOptions, "channel"> = {
  options: { homeserver: "http://127.0.0.1:1", accessToken: token },
  fixtures: {
    unit: "bytes",
    messages: [
      {
        raw: message,
        expect: {
          ...{ text: "Hello", mention: true, messageId: "$1", timestamp: at, kind: "message" },
          sender: { id: ada, name: "Ada", username: "ada" },
          chat: { id: ada, kind: "direct" },
        },
      },
      {
        raw: { ...message, room: group, event: from(ada, { body: "Breadbot, hello", ...named }) },
        expect: {
          text: "hello",
          chat: { id: group.id, kind: "group", title: "Bakery" },
          mention: true,
          mentionedByName: true,
        },
      },
      { raw: { ...message, room: group, event: from(ada, { body: "the robots" }) }, expect: { mention: false } },
      {
        raw: { ...message, event: from(ada, { body: "inside", "m.relates_to": root }) },
        expect: { text: "inside", chat: { id: ada, kind: "direct", thread: "$root" } },
      },
      {
        raw: {
          ...message,
          event: from(ada, {
            msgtype: "m.image",
            body: "cat.png",
            url: "mxc://hs.test/1",
            info: { mimetype: "image/png", size: 7 },
          }),
        },
        expect: {
          text: "<media:image>",
          media: [{ kind: "image", ref: "mxc://hs.test/1", fileName: "cat.png", mimeType: "image/png", size: 7 }],
        },
      },
    ],
    own: [{ ...message, event: from(bot.id, { body: "Hello" }) }],
    bots: [
      {
        ...message,
        room: group,
        event: from("@eve:hs.test", { msgtype: "m.notice", body: "Breadbot: hello", "m.mentions": {} }),
      },
    ],
    renamed: [[message, { ...message, name: "Ada Lovelace" }]],
  },
  functions: ["fetchMedia", "members", "probe", "resolve", "update"],
  concurrent: true,
  platform: {
    can: [
      ...([
        "away",
        "back",
        "cut",
        "hang",
        "limit",
        "lose",
        "refuse",
        "repeat",
        "reset",
        "silent",
        "unconfirmed",
      ] as const),
      ...([
        "delete",
        "edit",
        "files",
        "forge",
        "groups",
        "history",
        "lasting",
        "others",
        "reactions",
        "typing",
      ] as const),
    ],
    open: openPlatform,
  },
};
