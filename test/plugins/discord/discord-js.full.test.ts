/**
 * The stand-in, judged by the client that most bots are written with: discord.js, unchanged, is the bot. A request of
 * it that the stand-in refuses is a fault of the stand-in.
 */
import { type EventEmitter, once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { startDiscord } from "../../support/discord/server.ts";
import { botId } from "../../support/discord/world.ts";
import { makersClient } from "../../support/makers-clients.ts";

interface JsMessage {
  readonly id: string;
  readonly content: string;
  readonly nonce: string | number | null;
  readonly author: { readonly id: string };
  readonly attachments: { readonly size: number };
  readonly reference: { readonly messageId: string } | null;
  edit(what: object | string): Promise<JsMessage>;
  delete(): Promise<unknown>;
  react(emoji: string): Promise<{ readonly users: { remove(): Promise<unknown> } }>;
  reply(what: object | string): Promise<JsMessage>;
}

interface JsChannel {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
  send(what: object | string): Promise<JsMessage>;
  sendTyping(): Promise<void>;
  isThread(): boolean;
  readonly messages: { fetch(how: object | string): Promise<Map<string, JsMessage> & JsMessage> };
}

interface JsInteraction {
  readonly customId: string;
  readonly commandName: string;
  readonly options: { getString(name: string): string | null };
  isButton(): boolean;
  isChatInputCommand(): boolean;
  deferReply(how: object): Promise<unknown>;
  editReply(what: object | string): Promise<JsMessage>;
  followUp(what: object): Promise<JsMessage>;
  deleteReply(): Promise<unknown>;
  deferUpdate(): Promise<unknown>;
  reply(what: object): Promise<unknown>;
}

interface JsClient extends EventEmitter {
  login(token: string): Promise<string>;
  destroy(): Promise<void>;
  readonly user: { readonly id: string; readonly username: string };
  readonly channels: { fetch(id: string): Promise<JsChannel>; readonly cache: ReadonlyMap<string, JsChannel> };
  readonly users: {
    fetch(id: string): Promise<{ createDM(): Promise<JsChannel> }>;
    createDM(id: string): Promise<JsChannel>;
  };
  readonly application: {
    readonly commands: { set(commands: readonly object[]): Promise<ReadonlyMap<string, { readonly name: string }>> };
  };
  readonly guilds: {
    readonly cache: ReadonlyMap<
      string,
      {
        readonly name: string;
        readonly members: { fetchMe(): Promise<{ permissionsIn(channel: JsChannel): { has(flag: string): boolean } }> };
      }
    >;
  };
}

const { Client } = makersClient<{ readonly Client: new (options: object) => JsClient }>("discord.js");

const intents = [
  "Guilds",
  "GuildMessages",
  "GuildMessageReactions",
  "DirectMessages",
  "DirectMessageReactions",
  "MessageContent",
];

async function openClient({ heartbeatMs = 41_250 } = {}) {
  const server = await startDiscord({ heartbeatMs });
  const client = new Client({
    intents,
    partials: [1, 2, 3],
    rest: { api: server.root.replace(/\/v10$/, ""), retries: 0 },
  });
  onTestFinished(async () => {
    await client.destroy();
    await server.close();
  });
  const available = once(client, "clientReady");
  await client.login(server.token);
  await available;
  /** What was refused. */
  const refused = () => server.calls.filter(({ status }) => status >= 400);
  return { server, client, refused, general: await client.channels.fetch(server.world.general.id) };
}

const next = async <T>(client: JsClient, event: string): Promise<T> => ((await once(client, event)) as [T])[0];

test("discord.js signs in, sees the server and its threads, and its messages arrive", async () => {
  const { server, client, refused, general } = await openClient();
  const { world } = server;
  expect(client.user.id).toBe(botId);
  expect([...client.guilds.cache.values()].map(({ name }) => name)).toEqual(["Town"]);
  expect(general.name).toBe("general");
  const thread = await client.channels.fetch(world.thread.id);
  expect([thread.isThread(), thread.parentId]).toEqual([true, world.general.id]);
  const me = await [...client.guilds.cache.values()][0]?.members.fetchMe();
  expect(me?.permissionsIn(general).has("SendMessages")).toBe(true);

  const heard = next<JsMessage>(client, "messageCreate");
  const asked = server.say(world.ada, world.general, `<@${botId}> hello`);
  expect(await heard).toMatchObject({ id: asked.id, content: `<@${botId}> hello` });

  const sent = await general.send({ content: "An answer", nonce: "0123456789abcdef0123", enforceNonce: true });
  const again = await general.send({ content: "An answer", nonce: "0123456789abcdef0123", enforceNonce: true });
  expect(again.id).toBe(sent.id);
  const answer = await general.messages
    .fetch(asked.id)
    .then((found) => found.reply({ content: "To you", allowedMentions: { parse: [], repliedUser: false } }));
  expect(answer.reference?.messageId).toBe(asked.id);
  await sent.edit("An edited answer");
  await (await sent.react("👍")).users.remove();
  await general.sendTyping();
  const files = await general.send({
    content: "A file",
    files: [{ attachment: Buffer.from("Buy milk."), name: "note.txt" }],
    embeds: [{ title: "Card" }],
  });
  expect(files.attachments.size).toBe(1);
  await answer.delete();
  const history = await general.messages.fetch({ after: asked.id, limit: 100 });
  expect([...history.values()].map(({ content }) => content).toReversed()).toEqual(["An edited answer", "A file"]);

  const direct = await client.users.createDM(world.ada.id);
  await direct.send("In private");
  expect([...world.direct(world.ada).messages.values()].map(({ content }) => content)).toEqual(["In private"]);
  await client.application.commands.set([
    {
      name: "help",
      description: "Lists the commands.",
      options: [{ type: 3, name: "text", description: "What follows." }],
    },
  ]);
  expect(server.commands().map(({ name }) => name)).toEqual(["help"]);
  expect(refused()).toEqual([]);
});

test("discord.js hears edits, deletions and reactions", async () => {
  const { server, client, refused } = await openClient();
  const { world } = server;
  const message = server.say(world.ada, world.general, "first");
  await next(client, "messageCreate");
  const edited = once(client, "messageUpdate");
  server.edit(message, "second");
  expect(((await edited) as [unknown, JsMessage])[1].content).toBe("second");
  const reacted = once(client, "messageReactionAdd");
  server.react(world.bela, message, "🍞");
  expect(((await reacted) as [{ readonly emoji: { readonly name: string } }])[0].emoji.name).toBe("🍞");
  const deleted = once(client, "messageDelete");
  server.remove(message);
  expect(((await deleted) as [JsMessage])[0].id).toBe(message.id);
  expect(refused()).toEqual([]);
});

test("discord.js answers presses and slash commands", async () => {
  const { server, client, refused, general } = await openClient();
  const { world } = server;
  const button = { type: 2, style: 2, label: "Yes", custom_id: "yes" };
  const asked = await general.send({ content: "Agree?", components: [{ type: 1, components: [button] }] });
  const pressing = next<JsInteraction>(client, "interactionCreate");
  server.press(world.ada, world.general.messages.get(asked.id), world.general, "yes");
  const press = await pressing;
  expect([press.isButton(), press.customId]).toEqual([true, "yes"]);
  await press.deferUpdate();
  const shown = await press.followUp({ content: "Only for you", flags: 64 });
  expect(world.general.messages.get(shown.id)?.onlyFor).toBe(world.ada.id);

  const using = next<JsInteraction>(client, "interactionCreate");
  server.slash(world.ada, world.general, "help", "all");
  const command = await using;
  expect([command.isChatInputCommand(), command.commandName, command.options.getString("text")]).toEqual([
    true,
    "help",
    "all",
  ]);
  await command.deferReply({ flags: 64 });
  const answer = await command.editReply("The help");
  expect(world.general.messages.get(answer.id)).toMatchObject({ content: "The help", onlyFor: world.ada.id });
  await command.deleteReply();
  await command.followUp({ content: "More", flags: 64 });

  const refusing = next<JsInteraction>(client, "interactionCreate");
  server.press(world.bela, undefined, world.general, "yes");
  await (await refusing).reply({ content: "Not for you", flags: 64 });
  expect([...world.general.messages.values()].at(-1)).toMatchObject({ content: "Not for you", onlyFor: world.bela.id });
  expect(refused()).toEqual([]);
});

test("discord.js resumes its session after a cut, and gets what it has missed", async () => {
  const { server, client, refused } = await openClient({ heartbeatMs: 1_000 });
  const { world, sessions } = server;
  await expect.poll(() => sessions.counts.heartbeats, { timeout: 10_000 }).toBeGreaterThan(1);
  const heard: string[] = [];
  client.on("messageCreate", ({ content }: JsMessage) => heard.push(content));
  sessions.cut();
  server.say(world.ada, world.general, "while it was away");
  await expect.poll(() => heard, { timeout: 15_000 }).toEqual(["while it was away"]);
  expect(sessions.counts).toMatchObject({ identified: 1, resumed: 1 });
  sessions.send({ op: 7, d: null });
  await expect.poll(() => sessions.counts.resumed, { timeout: 15_000 }).toBe(2);
  expect(refused()).toEqual([]);
}, 40_000);
