/** The channel keeps the contract that strangers are held to, on the emulated platform. */
import type { Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import { channelContract } from "service-gateway/testkit";
import botchat from "../../../plugins/botchat/index.ts";
import { createPlatform } from "../../../plugins/playground/platform/index.ts";
import { house, updates } from "../../fixtures/botchat/updates.ts";
import { ada, forum, quick, token } from "./platform.ts";

const plain = { message_id: 7, from: { id: ada, is_bot: false, first_name: "Ada" }, chat: { id: ada, type: "private", first_name: "Ada" } };
const update = (message: object, id = 1) =>
  ({ update_id: id, message: { ...plain, date: 1_760_000_000, text: "hello", ...message } }) as Json;
const topic = { chat: { id: forum, type: "supergroup", title: "Workshop", is_forum: true }, is_topic_message: true, message_thread_id: 4 };

/** Messages, reactions, presses and the rest: what junk is made of. */
const examples = Object.values(updates).flatMap(({ update: raw, becomes }) =>
  "kind" in becomes && becomes.kind === "message" ? [{ raw: raw as unknown as Json, expect: { kind: "message" } as const }] : [],
);

channelContract({
  channel: botchat,
  options: { ackReaction: "", polling: quick, limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 } },
  functions: ["admit", "fetchMedia", "members", "pause", "probe", "resolve", "update"],
  fixtures: {
    messages: [
      { raw: update({}), expect: { text: "hello", sender: { id: String(ada), name: "Ada" }, chat: { id: String(ada), kind: "direct" } } },
      {
        raw: update(topic),
        expect: { text: "hello", chat: { id: String(forum), kind: "group", title: "Workshop", thread: "4", threaded: true } },
      },
      ...examples,
    ],
    own: [update({ from: house })],
    renamed: [[update({}), update({ from: { ...plain.from, first_name: "Ada Lind", username: "ada_lind" } })]],
    textOf: (part: Part) => (part.body as { readonly plain: string }).plain,
  },
  platform: {
    can: ["away", "cut", "hang", "limit", "refuse", "unconfirmed"],
    async open() {
      const platform = await createPlatform({ bots: [{ token, username: "house_bot", name: "House", privacy: false }] });
      const room = (thread: boolean) => platform.world.rooms.get(thread ? String(forum) : `${house.id}:${ada}`);
      const topicId = [...(room(true)?.topics.keys() ?? [])].find((id) => id !== 1) ?? 0;
      return {
        options: { botToken: token, apiRoot: platform.url },
        async write(text, { thread = false } = {}) {
          platform.act.say(ada, thread ? forum : ada, text, thread ? { thread: topicId } : {});
        },
        read: ({ thread = false } = {}) =>
          [...(room(thread)?.messages.values() ?? [])]
            .filter(({ from, message_thread_id }) => from?.is_bot === true && (!thread || message_thread_id === topicId))
            .map(({ text }) => text ?? ""),
        async fail(ability) {
          if (ability === "away") return await platform.close();
          if (ability === "refuse") return platform.act.block(ada, true);
          const kind = ability === "cut" ? "reset-after" : ability === "hang" ? "drop" : "flood";
          platform.faults.add({ method: "sendMessage", times: 1, kind, retryAfter: 2 });
        },
        close: () => platform.close(),
      };
    },
  },
});
