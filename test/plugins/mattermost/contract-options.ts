/** How the contract is held against the channel: on a stand-in of the server. */
import type { Json } from "service-gateway/sdk";
import { emojiFromName, type Part } from "service-gateway/sdk/channel";
import type { ChannelContractOptions, ChannelPlatform, PlatformPlace } from "service-gateway/testkit";
import { actionsOf, startMattermost } from "../../support/mattermost/server.ts";
import type { Post } from "../../support/mattermost/world.ts";
import { reservePort } from "../../support/ports.ts";

const idOf = (letter: string) => letter.repeat(26);
const bot = { id: idOf("b"), username: "breadbot" };
const direct = { id: idOf("d"), type: "direct", title: "", person: idOf("a") };
const room = { id: idOf("r"), type: "group", title: "Town Square" };
const message = {
  ...{ type: "message", bot, channel: direct, user: idOf("a"), username: "ada", at: 1_760_000_000_000 },
  ...{ post: idOf("p"), thread: "", text: "Hello", files: [] },
};
const sender = { id: idOf("a"), name: "ada", username: "ada" };
const file = { id: idOf("f"), name: "cat.png", type: "image/png", size: 4 };

/** Ada writes to the bot, in private and in a channel. */
async function openMattermost(): Promise<ChannelPlatform> {
  // While the server is away, the channel must not reach another one at its port.
  const { port, release } = await reservePort();
  const server = await startMattermost({ port });
  server.bot.roles = "system_user system_admin";
  const { ada, bela, bot: own, chat, room: group, world } = server;
  const root = server.say(ada, chat, "a thread");
  const channelOf = ({ group: inGroup = false }: PlatformPlace) => (inGroup ? group : chat);
  const isIn = (post: Post, { thread = false }: PlatformPlace) => !thread || post.root_id === root.id;
  const lastOfAda = () => server.posts(chat, ada).at(-1) ?? root;
  const alone = (channel: string) =>
    server.ephemeral
      .filter(({ user, post }) => user === ada.id && post.channel_id === channel)
      .map(({ post }) => String(post.message));
  return {
    options: { url: server.url, token: own.token, callbackUrl: "http://127.0.0.1:1" },
    groups: { inside: group.id, outside: server.elsewhere.id },
    postTo: ({ own: base }) => server.integrations((url, init) => fetch(url.replace(/^.*\/default\//, base), init)),
    async write(text, { thread = false, group: inGroup = false, mention = false, file: sent } = {}) {
      const channel = channelOf({ group: inGroup });
      const ids =
        sent === undefined
          ? []
          : [
              server.addFile(ada, channel, {
                name: sent.name ?? "file",
                type: sent.mimeType ?? "application/octet-stream",
                bytes: sent.bytes,
              }),
            ];
      const words = mention && inGroup ? `@${own.username} ${text}` : text;
      server.say(ada, channel, words, { file_ids: ids, ...(thread && { root_id: root.id }) });
    },
    read: (where = {}) => [
      ...server
        .posts(channelOf(where), own)
        .filter((post) => isIn(post, where))
        .map((post) => post.message),
      ...(where.group === true ? alone(group.id) : []),
    ],
    others: () => server.posts(group, own).map((post) => post.message),
    async edit(text) {
      server.edit(ada, lastOfAda(), text);
    },
    async delete() {
      server.remove(ada, lastOfAda());
    },
    async forge(text) {
      const raw = { ...message, user: bela.id, text, channel: room };
      server.say(ada, chat, `${text} ${JSON.stringify(raw)}`, {
        props: { from_plugin: "true", override_username: "bela", channel_id: group.id },
      });
    },
    async press(value) {
      const post = server.posts(chat, own).findLast((one) => actionsOf(one).length > 0);
      const actions = post === undefined ? [] : actionsOf(post);
      const [first] = actions;
      if (post === undefined || first === undefined) throw new Error("There is no button");
      const action = actions.find(({ integration }) => integration.context.value === value);
      if (action !== undefined) return void (await server.press(ada, post, action));
      // A button that the gateway never made: its server refuses it.
      const { url, context } = first.integration;
      const old = { ...first, id: "old", integration: { url, context: { ...context, value } } };
      post.props = { ...post.props, attachments: [{ actions: [old] }] };
      await server.press(ada, post, old).catch(() => {});
    },
    acknowledged: () => server.pressed.length,
    history: () => server.history.filter(({ channel }) => channel === chat.id).map(({ text }) => text),
    files: () =>
      server.posts(chat, own).flatMap(({ file_ids }) =>
        file_ids.flatMap((id) => {
          const found = world.files.get(id);
          return found === undefined ? [] : [{ name: found.name, bytes: found.bytes, mimeType: found.mime_type }];
        }),
      ),
    reactions: () =>
      world.reactions
        .filter(({ post_id, user_id }) => post_id === lastOfAda().id && user_id === own.id)
        .map(({ emoji_name }) => emojiFromName(emoji_name) ?? `:${emoji_name}:`),
    typing: () => server.typing.length,
    async fail(failure) {
      if (failure === "away") return await server.leave();
      if (failure === "back") return void (await server.back());
      if (failure === "silent") return server.silence();
      if (failure === "reset") return server.events.drop({ forget: true });
      if (failure === "lose") return world.files.clear();
      if (failure === "refuse") return void chat.members.delete(own.id);
      const kind = failure === "cut" ? "cut" : failure === "hang" ? "hang" : "flood";
      server.faults.add({ kind, call: /^POST posts$/ });
    },
    async close() {
      await server.close();
      release();
    },
  };
}

const raw = (more: object): Json => ({ ...message, ...more }) as Json;

export const contract: Omit<ChannelContractOptions, "channel"> = {
  options: {
    url: "http://127.0.0.1:1",
    token: "token-of-the-bot-0123456789",
    callbackUrl: "http://127.0.0.1:1",
    ephemeral: true,
  },
  functions: ["fetchMedia", "members", "probe", "resolve", "update"],
  fixtures: {
    messages: [
      { raw: raw({}), expect: { text: "Hello", sender, chat: { id: idOf("a"), kind: "direct" }, mention: true } },
      {
        raw: raw({ channel: room, text: "@BreadBot: help", thread: idOf("t") }),
        expect: {
          ...{ text: "help", mention: true, mentionedByName: true },
          chat: { id: idOf("r"), kind: "group", title: "Town Square", thread: idOf("t") },
        },
      },
      {
        raw: raw({ channel: room, text: "@breadbots and @channel", isMentioned: true }),
        expect: { text: "@breadbots and @channel", mention: false },
      },
      { raw: raw({ text: "", files: [file] }), expect: { text: "<media:image>" } },
      {
        raw: raw({
          channel: room,
          thread: idOf("t"),
          root: { user: idOf("b"), username: "breadbot", text: "A", files: [] },
        }),
        expect: { mention: true, replyTo: { messageId: idOf("t"), sender: "breadbot", text: "A", media: [] } },
      },
    ],
    own: [raw({ user: idOf("b"), username: "breadbot" })],
    bots: [raw({ channel: room, text: "@breadbot hello", isBot: true })],
    renamed: [[raw({}), raw({ username: "ada.lind" })]],
    unit: "utf16",
    textOf: (part: Part) => (part.body as { readonly text: string }).text,
  },
  concurrent: true,
  platform: {
    can: [
      ...(["away", "back", "cut", "hang", "limit", "lose", "refuse", "reset", "silent"] as const),
      ...(["delete", "edit", "files", "forge", "groups", "history", "lasting", "others"] as const),
      ...(["acknowledge", "press", "reactions", "typing", "unconfirmed"] as const),
    ],
    open: openMattermost,
  },
};
