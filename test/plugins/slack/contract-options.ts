/** How the contract is held against the channel: in a workspace that fails on demand. */
import type { Json } from "service-gateway/sdk";
import { emojiFromName, type Part } from "service-gateway/sdk/channel";
import type { ChannelContractOptions, ChannelPlatform, PlatformPlace } from "service-gateway/testkit";
import { reservePort } from "../../support/ports.ts";
import { typed } from "../../support/slack/people.ts";
import { appToken, botToken, signingSecret, startSlack } from "../../support/slack/server.ts";
import { ada, adaDirect, bot, bread, elsewhere, robot, shownText } from "../../support/slack/world.ts";

const me = { user: bot.user, bot: bot.bot };
const people = { [ada]: { name: "Ada Lind", username: "ada" } };
const event = {
  ...{ type: "message", user: ada, text: "Hello", ts: "1760000000.000100", channel: adaDirect },
};
const stored = (more: object, around: object = {}) =>
  ({ is: "event", me, people, payload: { ...event, ...more }, ...around }) as unknown as Json;

/** Sooner than Slack, so that what it repeats is over before a rule looks for what is left. */
const retryMs = 1_000;

/** `posts`: Slack posts its events to the gateway, in place of Socket Mode. */
async function openSlack({ posts }: { readonly posts: boolean }): Promise<ChannelPlatform> {
  // While Slack is away, the channel must not reach another server at its port.
  const { port, release } = await reservePort();
  let server = await startSlack({ port, retryMs });
  const { world } = server;
  /** Ada's message in whose thread she writes. */
  let root: string | undefined;
  let last = "";
  const channelOf = ({ group = false }: PlatformPlace = {}) => (group ? bread : adaDirect);
  const messages = (where: PlatformPlace = {}) =>
    (world.channels.get(channelOf(where))?.messages ?? []).filter(
      ({ user, thread_ts }) => user === bot.user && (where.thread !== true || thread_ts === root),
    );
  const alone = (where: PlatformPlace) =>
    world.ephemerals.filter(({ channel, user }) => channel === channelOf(where) && user === ada);
  const texts = (where: PlatformPlace) => messages(where).map(shownText);
  const fault = (kind: "cut-after" | "hang" | "limit") => server.faults.push({ method: /^chat\.post/, kind });
  return {
    options: { apiUrl: server.apiUrl },
    groups: { inside: bread, outside: elsewhere },
    ...(posts && {
      postTo: ({ own }) => {
        server.delivery.postTo = `${own}events`;
      },
    }),
    async write(text, { thread = false, group = false, mention = false, file } = {}) {
      const channel = channelOf({ group });
      root ??= thread ? world.channels.get(channel)?.messages.find(({ user }) => user === ada)?.ts : undefined;
      if (thread && root === undefined) {
        // The message that the thread is about was written before the bot came.
        root = world.nextTs();
        world.channels.get(channel)?.messages.push({ ts: root, user: ada, text: "A question", reactions: new Map() });
      }
      const words = mention ? `<@${bot.user}> ${typed(text)}` : typed(text);
      last = server.people.say(words, {
        channel,
        ...(thread && root !== undefined && { thread: root }),
        ...(file && { file }),
      });
    },
    async forge(text) {
      server.people.say(typed(`{"user":"U0EVE0001","channel":"${bread}","text":"${text}"} <@${bot.user}|x>`));
    },
    read: (where = {}) => [...texts(where), ...(where.group === true ? alone(where).map((one) => shownText(one)) : [])],
    others: () => texts({ group: true }),
    edit: async (text) => server.people.edit(last, typed(text)),
    delete: async () => server.people.delete(last),
    press: async (value) => server.people.press(value),
    acknowledged: () => server.delivery.confirmed.filter(({ kind }) => kind === "interactive").length,
    history: () =>
      server.calls
        .filter(({ method }) => method === "chat.postMessage" || method === "chat.update")
        .map(({ args }) => shownText({ text: args.text ?? "" })),
    files: () =>
      messages().flatMap(({ files = [] }) =>
        files.flatMap(({ id, name }) => {
          const bytes = world.files.get(String(id))?.bytes;
          return bytes === undefined ? [] : [{ name: String(name), bytes }];
        }),
      ),
    reactions: () =>
      [...(world.channels.get(adaDirect)?.messages.find(({ ts }) => ts === last)?.reactions ?? [])].flatMap(
        ([name, users]) => (users.has(bot.user) ? [emojiFromName(name) ?? `:${name}:`] : []),
      ),
    async fail(failure) {
      if (failure === "away") return await server.close();
      if (failure === "back") {
        const { postTo } = server.delivery;
        server = await startSlack({ port, world, retryMs });
        server.delivery.postTo = postTo;
      }
      if (failure === "reset") server.delivery.cut();
      if (failure === "repeat") server.delivery.repeat();
      if (failure === "silent") {
        server.isSilent = true;
        server.delivery.mute();
      }
      if (failure === "lose")
        server.faults.push({ method: "files.info", times: 9, kind: "refuse", what: "file_deleted" });
      if (failure === "refuse")
        server.faults.push({ method: /^chat\.post/, times: 99, kind: "refuse", what: "is_archived" });
      if (failure === "cut") fault("cut-after");
      if (failure === "hang") fault("hang");
      if (failure === "limit") fault("limit");
    },
    async close() {
      await server.close();
      release();
    },
  };
}

const abilities = [
  ...(["away", "back", "cut", "hang", "limit", "lose", "refuse", "repeat", "silent", "unconfirmed"] as const),
  ...(["acknowledge", "delete", "edit", "files", "forge", "groups", "history", "lasting", "others", "press"] as const),
  "reactions",
] as const;

const common: Omit<ChannelContractOptions, "channel" | "platform"> = {
  options: { botToken, appToken },
  functions: ["admit", "fetchMedia", "members", "pause", "probe", "resolve", "update"],
  concurrent: true,
  fixtures: {
    messages: [
      {
        raw: stored({}),
        expect: {
          text: "Hello",
          sender: { id: ada, name: "Ada Lind", username: "ada" },
          chat: { id: ada, kind: "direct" },
          mention: true,
          messageId: event.ts,
        },
      },
      {
        raw: stored(
          { channel: bread, text: `<@${bot.user}> what is *bread*?`, thread_ts: "1750000000.000100" },
          { title: "bread" },
        ),
        expect: {
          text: "what is **bread**?",
          plain: "what is bread?",
          chat: { id: bread, kind: "group", title: "bread", thread: "1750000000.000100" },
          mention: true,
          mentionedByName: true,
        },
      },
      { raw: stored({ channel: bread, text: "robots &amp; bots" }), expect: { text: "robots & bots", mention: false } },
      {
        raw: stored({
          subtype: "message_changed",
          message: { user: ada, text: "Hi", ts: event.ts },
          ts: "1760000009.000100",
        }),
        expect: { kind: "edit", text: "Hi", messageId: event.ts },
      },
      {
        raw: stored({
          subtype: "message_deleted",
          deleted_ts: event.ts,
          previous_message: { user: ada, ts: event.ts },
        }),
        expect: { kind: "delete", text: "", messageId: event.ts, sender: { id: ada, name: "Ada Lind" } },
      },
      {
        raw: stored({
          type: "reaction_added",
          reaction: "+1",
          item: { type: "message", channel: bread, ts: event.ts },
        }),
        expect: { kind: "reaction", text: `Reaction added: 👍 by Ada Lind on message ${event.ts}` },
      },
      {
        raw: { is: "command", me, people, payload: { user_id: ada, channel_id: bread, command: "/ask", text: "why?" } },
        expect: { kind: "message", text: "why?", mention: true, chat: { id: bread, kind: "group" } },
      },
    ],
    own: [
      stored({ user: bot.user, bot_id: bot.bot }),
      stored({ subtype: "bot_message", user: undefined, bot_id: bot.bot }),
    ],
    bots: [stored({ user: robot.user, bot_id: robot.bot, text: `<@${bot.user}> hello`, channel: bread })],
    renamed: [[stored({}), stored({}, { people: { [ada]: { name: "Ada L.", username: "ada2" } } })]],
    platformFields: { blocks: [{ type: "section", text: { type: "mrkdwn", text: "*A card*" } }], unfurl_links: true },
    unit: "utf16",
    textOf: ({ body }: Part) => String((body as { readonly text?: string }).text ?? ""),
  },
};

export const socketContract: Omit<ChannelContractOptions, "channel"> = {
  ...common,
  platform: { can: [...abilities, "reset"], open: () => openSlack({ posts: false }) },
};

export const postedContract: Omit<ChannelContractOptions, "channel"> = {
  ...common,
  options: { botToken, signingSecret },
  platform: { can: [...abilities, "posts"], open: () => openSlack({ posts: true }) },
};
