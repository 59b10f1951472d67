/** How the contract is held against the channel: on the emulated platform. */
import type { Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import type { ChannelContractOptions, ChannelPlatform, PlatformFile, PlatformPlace } from "service-gateway/testkit";
import { createPlatform } from "../../../plugins/playground/platform/index.ts";
import { house, updates } from "../../fixtures/botchat/updates.ts";
import { reservePort } from "../../support/ports.ts";
import { ada, forum, quick, token } from "./platform.ts";

const plain = {
  message_id: 7,
  from: { id: ada, is_bot: false, first_name: "Ada" },
  chat: { id: ada, type: "private", first_name: "Ada" },
};
const update = (message: object, id = 1) =>
  ({ update_id: id, message: { ...plain, date: 1_760_000_000, text: "hello", ...message } }) as Json;
const topic = {
  chat: { id: forum, type: "supergroup", title: "Workshop", is_forum: true },
  is_topic_message: true,
  message_thread_id: 4,
};

/** Messages, reactions, presses and the rest: what junk is made of. */
const examples = Object.values(updates).flatMap(({ update: raw, becomes }) =>
  "kind" in becomes && becomes.kind === "message"
    ? [{ raw: raw as unknown as Json, expect: { kind: "message" } as const }]
    : [],
);

const group = -1_001_000_000_001;

/** The emulated platform as the contract drives it: Ada writes, in her direct chat, in a forum and in a group. */
async function openBotchat(): Promise<ChannelPlatform> {
  const bot = { token, username: "house_bot", name: "House", privacy: false };
  // While the platform is away, the channel must not reach another one at its port.
  const { port, release } = await reservePort();
  let platform = await createPlatform({ port, bots: [bot] });
  const { origin } = new URL(platform.url);
  const roomOf = ({ thread = false, group: inGroup = false }: PlatformPlace) =>
    platform.world.rooms.get(thread ? String(forum) : inGroup ? String(group) : `${house.id}:${ada}`);
  const topicId = [...(roomOf({ thread: true })?.topics.keys() ?? [])].find((id) => id !== 1) ?? 0;
  const messages = (where: PlatformPlace = {}) => [...(roomOf(where)?.messages.values() ?? [])];
  const byBot = (where: PlatformPlace = {}) => messages(where).filter(({ from }) => from.is_bot);
  const lastOfAda = () => messages().findLast(({ from }) => !from.is_bot)?.message_id ?? 0;
  const calls = (...methods: readonly string[]) =>
    platform.calls.list().filter(({ method }) => methods.includes(method));
  /**
   * The same platform as before, at the same address; what it knew is forgotten, but not that Ada has written to the
   * bot.
   */
  async function reopen(): Promise<void> {
    platform = await createPlatform({ port, bots: [{ ...bot, firstUpdateId: 900_000_001 }] });
    const [opened] = platform.world.bots;
    if (opened !== undefined) platform.world.direct(opened, ada).started = true;
  }
  return {
    options: { botToken: token, apiRoot: origin },
    groups: { inside: String(group), outside: "-1009999999999" },
    async write(text, { thread = false, group: inGroup = false, mention = false, file } = {}) {
      const words = inGroup && mention ? `${text} @house_bot` : text;
      const media = file === undefined ? undefined : sentFile(file);
      const where = thread ? forum : inGroup ? group : ada;
      platform.act.say(ada, where, words, { ...(thread && { thread: topicId }), ...(media && { media }) });
    },
    read: (where = {}) =>
      byBot(where)
        .filter(({ message_thread_id }) => where.thread !== true || message_thread_id === topicId)
        .map(({ text, caption }) => text ?? caption ?? ""),
    async edit(text) {
      platform.act.edit(ada, ada, lastOfAda(), text);
    },
    async press(value) {
      const message = byBot().at(-1);
      const has =
        message?.reply_markup?.inline_keyboard.flat().some(({ callback_data }) => callback_data === value) === true;
      // An old client still shows a button that the message has lost.
      if (!has)
        Object.assign(message ?? {}, { reply_markup: { inline_keyboard: [[{ text: "Old", callback_data: value }]] } });
      platform.act.press(ada, ada, message?.message_id ?? 0, value);
    },
    acknowledged: () => calls("answerCallbackQuery").length,
    history: () => calls("sendMessage", "editMessageText").map(({ params }) => String(params.text)),
    files: () =>
      byBot().flatMap(({ document }) => {
        const found = document === undefined ? undefined : platform.files.find(document.file_id);
        return found === undefined ? [] : [{ name: found.fileName, bytes: found.bytes }];
      }),
    reactions: () =>
      (roomOf({})?.reactions.get(lastOfAda())?.get(house.id) ?? []).map((reaction) =>
        String(Object.values(reaction)[1]),
      ),
    typing: () => calls("sendChatAction").length,
    menu: () => [
      ...new Set(platform.world.bots.flatMap(({ menus }) => [...menus.values()].flat()).map(({ command }) => command)),
    ],
    async fail(failure) {
      if (failure === "away") return await platform.close();
      if (failure === "back") return await reopen();
      if (failure === "refuse") return platform.act.block(ada, true);
      if (failure === "lose")
        return platform.faults.add({
          method: "getFile",
          times: 9,
          kind: "refuse",
          description: "Bad Request: no such file",
        });
      const kind = failure === "cut" ? "reset-after" : failure === "hang" ? "drop" : "flood";
      platform.faults.add({ method: "sendMessage", times: 1, kind, retryAfter: 2 });
    },
    async close() {
      await platform.close();
      release();
    },
  };
}

const sentFile = ({ name = "file", mimeType = "application/octet-stream", bytes }: PlatformFile) =>
  ({ kind: "document", bytes: Buffer.from(bytes), fileName: name, mimeType }) as const;

export const contract: Omit<ChannelContractOptions, "channel"> = {
  options: {
    ackReaction: "",
    polling: quick,
    limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 },
  },
  functions: ["admit", "fetchMedia", "members", "pause", "probe", "resolve", "standBy", "update"],
  fixtures: {
    platformFields: { protect_content: true, link_preview_options: { url: "https://example.test/a" } },
    messages: [
      {
        raw: update({}),
        expect: { text: "hello", sender: { id: String(ada), name: "Ada" }, chat: { id: String(ada), kind: "direct" } },
      },
      {
        raw: update(topic),
        expect: {
          text: "hello",
          chat: { id: String(forum), kind: "group", title: "Workshop", thread: "4", threaded: true },
        },
      },
      ...examples,
    ],
    own: [update({ from: house })],
    renamed: [[update({}), update({ from: { ...plain.from, first_name: "Ada Lind", username: "ada_lind" } })]],
    bots: [update({ from: { id: 4_711, is_bot: true, first_name: "Robot", username: "other_bot" } })],
    unit: "utf16",
    textOf: (part: Part) => (part.body as { readonly plain: string }).plain,
  },
  platform: {
    can: [
      ...(["away", "back", "cut", "hang", "limit", "lose", "refuse"] as const),
      ...([
        "acknowledge",
        "edit",
        "files",
        "groups",
        "history",
        "lasting",
        "menu",
        "press",
        "reactions",
        "typing",
        "unconfirmed",
      ] as const),
    ],
    open: openBotchat,
  },
};
