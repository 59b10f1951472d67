/** How the contract is held against the channel: on the stand-in. */
import type { Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import type { ChannelContractOptions, ChannelPlatform, PlatformPlace } from "service-gateway/testkit";
import { type Fault, startDiscord } from "../../support/discord/server.ts";
import { botId, type Channel, type Message } from "../../support/discord/world.ts";
import { reservePort } from "../../support/ports.ts";

const ada = { id: "1100000000000000011", username: "ada", global_name: "Ada", discriminator: "0" };
const robot = { id: "1100000000000000013", username: "otherbot", bot: true };
const direct = { id: ada.id, kind: "direct" };
const general = { id: "1100000000000000101", kind: "group", title: "#general (Town)" };

const message = (data: object = {}, chat: object = direct, more: object = {}): Json =>
  ({
    type: "MESSAGE_CREATE",
    bot: botId,
    chat,
    data: {
      ...{ id: "1200000000000000001", channel_id: "1100000000000000900", author: ada, content: "hello", type: 0 },
      ...{ timestamp: "2026-01-01T00:00:00+00:00", edited_timestamp: null, mentions: [], attachments: [], flags: 0 },
      ...data,
    },
    ...more,
  }) as Json;

const edit = {
  ...(message({ content: "hello again", edited_timestamp: "2026-01-01T00:00:09+00:00" }) as object),
  type: "MESSAGE_UPDATE",
} as Json;
const interaction = (data: object): Json =>
  ({
    ...{ type: "INTERACTION_CREATE", bot: botId, chat: general },
    data: {
      ...{
        id: "1200000000000000005",
        application_id: botId,
        token: "aW50ZXJh_Y3Rpb24",
        guild_id: "1100000000000000100",
      },
      ...{ channel: { id: general.id, type: 0 }, member: { user: ada, nick: "Ada L." }, ...data },
    },
  }) as Json;

/** The stand-in as the contract drives it: Ada writes. */
async function openDiscord(): Promise<ChannelPlatform> {
  // While it is away, the channel must not reach another one at its port.
  const { port, release } = await reservePort();
  const server = await startDiscord({ port });
  const { world } = server;
  const home = world.direct(world.ada);
  const channelOf = ({ thread = false, group = false }: PlatformPlace = {}): Channel =>
    thread ? world.thread : group ? world.general : home;
  const byBot = (where?: PlatformPlace) =>
    [...channelOf(where).messages.values()].filter(({ author }) => author.id === botId);
  let last: Message | undefined;
  return {
    options: { token: server.token, apiRoot: server.root },
    groups: { inside: world.general.id, outside: world.outside.id },
    async write(text, { mention = false, interaction: isCommand = false, file, ...where } = {}) {
      const channel = channelOf(where);
      if (isCommand) {
        const [, name = "ask", words] = /^\/(\w+) ?(.*)$/s.exec(text) ?? [undefined, "ask", text];
        server.slash(world.ada, channel, name, words === "" ? undefined : words);
        return;
      }
      const named = where.group === true && mention ? `<@${botId}> ${text}` : text;
      const sent =
        file === undefined ? {} : { file: { name: file.name ?? "file", type: file.mimeType ?? "", bytes: file.bytes } };
      last = server.say(world.ada, channel, named, sent);
    },
    read: (where) =>
      byBot(where)
        .filter(({ onlyFor = world.ada.id }) => onlyFor === world.ada.id)
        .map(({ content }) => content),
    others: () =>
      byBot({ group: true })
        .filter(({ onlyFor }) => onlyFor === undefined)
        .map(({ content }) => content),
    edit: async (text) => void (last && server.edit(last, text)),
    delete: async () => void (last && server.remove(last)),
    async forge(text) {
      server.say(
        world.ada,
        home,
        JSON.stringify({ author: { id: world.bela.id }, channel_id: world.general.id, content: text }),
        {},
      );
    },
    async press(value) {
      const shown = byBot().at(-1);
      const custom = shown?.components.flatMap(({ components }) => components).find((one) => one.custom_id === value);
      server.press(world.ada, shown, home, custom?.custom_id ?? value);
    },
    acknowledged: () => server.interactions.filter(({ kind, answered }) => kind === 3 && answered !== undefined).length,
    history: () => server.history.filter(({ channel }) => channel === home.id).map(({ content }) => content),
    files: () =>
      byBot().flatMap(({ attachments }) => attachments.map(({ filename, bytes }) => ({ name: filename, bytes }))),
    reactions: () => [...(last?.reactions ?? [])].flatMap(([emoji, users]) => (users.has(botId) ? [emoji] : [])),
    typing: () => server.typing.length,
    menu: () => server.commands().map(({ name }) => name),
    async fail(failure) {
      if (failure === "away") await server.away();
      else if (failure === "back") await server.listen();
      else if (failure === "reset") server.sessions.cut();
      else if (failure === "silent") server.silence();
      else if (failure === "lose") server.settings.filesAreLost = true;
      else if (failure === "refuse") server.settings.blocked = true;
      else server.fail(failure as Fault);
    },
    async close() {
      await server.close();
      release();
    },
  };
}

export const contract: Omit<ChannelContractOptions, "channel"> = {
  options: { token: "a-token-of-the-test", apiRoot: "https://discord.com/api/v10" },
  functions: ["admit", "fetchMedia", "members", "pause", "probe", "resolve"],
  fixtures: {
    platformFields: { embeds: [{ title: "Bread", color: 0xff_88_00, fields: [{ name: "Flour", value: "500 g" }] }] },
    messages: [
      {
        raw: message(),
        expect: {
          text: "hello",
          sender: { id: ada.id, name: "Ada", username: "ada" },
          chat: { id: ada.id, kind: "direct" },
          mention: true,
        },
      },
      {
        raw: message({ content: `<@${botId}> /help`, mentions: [{ id: botId, username: "breadbot" }] }, general),
        expect: {
          text: "/help",
          mention: true,
          mentionedByName: true,
          chat: { id: general.id, kind: "group", title: general.title },
        },
      },
      {
        raw: message(
          {
            content: "hi <@1100000000000000012> <:wave:1200000000000000099>",
            mentions: [{ id: "1100000000000000012", username: "bela" }],
          },
          general,
        ),
        expect: { text: "hi @bela :wave:", mention: false },
      },
      {
        raw: message(
          { content: "<@&1100000000000000107> help" },
          { ...general, thread: "1100000000000000103" },
          { role: "1100000000000000107" },
        ),
        expect: {
          text: "help",
          mentionedByName: true,
          chat: { id: general.id, kind: "group", title: general.title, thread: "1100000000000000103" },
        },
      },
      {
        raw: message({
          content: "",
          flags: 1 << 13,
          attachments: [
            {
              id: "1200000000000000044",
              filename: "voice.ogg",
              size: 4_000,
              url: "https://cdn.discordapp.com/a",
              content_type: "audio/ogg",
            },
          ],
        }),
        expect: { text: "<media:audio>" },
      },
      {
        raw: message(
          {
            content: "and this?",
            type: 19,
            referenced_message: {
              id: "1200000000000000000",
              author: { id: botId, username: "breadbot" },
              content: "Bread.",
            },
          },
          general,
        ),
        expect: {
          text: "and this?",
          mention: true,
          replyTo: { messageId: "1200000000000000000", sender: "breadbot", text: "Bread." },
        },
      },
      { raw: edit, expect: { kind: "edit", text: "hello again", messageId: "1200000000000000001" } },
      {
        raw: interaction({
          type: 3,
          data: { custom_id: "agree", component_type: 2 },
          message: { id: "1200000000000000003" },
        }),
        expect: {
          kind: "press",
          text: "callback_data: agree",
          messageId: "1200000000000000003",
          mention: true,
          sender: { id: ada.id, name: "Ada L.", username: "ada" },
        },
      },
      {
        raw: interaction({ type: 2, data: { name: "model", options: [{ name: "text", type: 3, value: "small" }] } }),
        expect: { text: "/model small", interaction: `command:${botId}:aW50ZXJh_Y3Rpb24` },
      },
    ],
    own: [message({ author: { id: botId, username: "breadbot", bot: true } })],
    renamed: [[message(), message({ author: { ...ada, username: "ada_lind", global_name: "Ada Lind" } })]],
    bots: [message({ author: robot }, general)],
    unit: "utf16",
    textOf: (part: Part) => (part.body as { readonly content: string }).content,
  },
  platform: {
    can: [
      ...(["away", "back", "cut", "hang", "limit", "lose", "refuse", "reset", "silent"] as const),
      ...(["acknowledge", "delete", "edit", "files", "forge", "groups", "history", "lasting", "menu"] as const),
      ...(["others", "press", "reactions", "typing", "unconfirmed"] as const),
    ],
    open: openDiscord,
  },
};
