/**
 * The full road of everything that goes out, by one gateway over real HTTP: the calls that the platform receives, as
 * files that a person can read, in `golden/`. `vitest run test/e2e/outbound -u` writes them anew.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { aroundEach, beforeAll, describe, test, vi } from "vitest";
import { definePlugin, type EngineTurn, type TurnEvent } from "../../../core/sdk/contract.ts";
import botchat from "../../../plugins/botchat/index.ts";
import { sound } from "../../../plugins/echo/sound.ts";
import { createPlatform, type Platform } from "../../../plugins/playground/platform/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { kitchen, workshop } from "../conversation.ts";
import { openChannel, people } from "../room.ts";
import { renderCalls } from "./golden.ts";
import { perform, scriptFor } from "./scripts.ts";

/** Accounts of the one gateway; each has a bot. */
const accounts = {
  plain: { ackReaction: "👀" },
  first: { replyToMode: "first" },
  all: { replyToMode: "all" },
  dressed: { responsePrefix: "[{identity.name}]", linkPreview: false },
  paragraphs: { chunkMode: "newline" },
  partial: { streamMode: "partial" },
  growing: { streamMode: "partial" },
  answering: { streamMode: "partial", replyToMode: "first" },
  block: { streamMode: "block" },
} as const;
type Account = keyof typeof accounts;
const bots = Object.keys(accounts).map((account, index) => ({
  account,
  token: `${5001 + index}:golden-token`,
  username: `${account}_bot`,
}));

let platform: Platform;
let host: TestHost;
let ada = 0;
let topic = 0;
/** Called with the lane of each turn that has ended. */
const whenEnded = new Set<(lane: string) => void>();

aroundEach(inOwnTest);

beforeAll(async () => {
  platform = await createPlatform({
    bots: bots.map(({ token, username }) => ({ token, username, name: username, privacy: false })),
  });
  [ada = 0] = people(platform);
  topic = [...(platform.world.group(workshop)?.topics.keys() ?? [])].find((id) => id !== 1) ?? 0;
  const directory = temporaryDirectory();
  const witness = definePlugin({
    id: "witness",
    version: "1.0.0",
    host: "^0.2.0",
    setup: (host) =>
      host.tap("settled", ({ lane }) => {
        for (const tell of whenEnded) tell(lane);
      }),
  });
  const { botToken: _none, ...shared } = openChannel(platform, { streamMode: "off", groupPolicy: "disabled" }) as {
    botToken: string;
  };
  const groups = { groupPolicy: "open", groups: { "*": { requireMention: false } } };
  const opened = bots.map(({ account, token }) => [
    account,
    { botToken: token, ...accounts[account as Account], ...(account === "plain" && groups) },
  ]);
  host = await createTestHost({
    directory,
    plugins: [botchat, witness],
    answer: ({ inbound }) => answer(inbound),
    config: {
      commands: { ownerAllowFrom: undefined },
      // The turns of one account do not wait for those of another.
      session: { dmScope: "per-account-channel-peer" },
      agents: { defaults: { workspace: "agent" }, list: [{ id: "main", identity: { name: "Otto" } }] },
      messages: { ackReactionScope: "group-all" },
      channels: { botchat: { ...shared, actions: { sticker: true }, accounts: Object.fromEntries(opened) } },
    },
  });
  const states = async () =>
    (await host.accounts()).flatMap(({ channel, state }) => (channel === "botchat" ? [state] : []));
  await vi.waitFor(async () => expect(await states()).toEqual(bots.map(() => "connected")), 60_000);
  return async () => {
    await host.close();
    await platform.close();
    removeDirectory(directory);
  };
});

const roomOf = (account: Account, chat: number) =>
  [...platform.world.rooms.values()].find(
    (room) => room.chat.id === chat && (chat < 0 || room.bot === botOf(account)?.user.id),
  );
const botOf = (account: Account) => platform.world.bots.find(({ user }) => user.username === `${account}_bot`);

async function* answer({ text, account, chat, messageId }: EngineTurn["inbound"]): AsyncGenerator<TurnEvent> {
  // The reaction goes out beside the turn; here it is seen first.
  const seen = () =>
    platform.calls.list({ method: "setMessageReaction" }).some(({ params }) => String(params.message_id) === messageId);
  if (chat?.kind === "group") await vi.waitFor(() => expect(seen()).toBe(true), 60_000);
  const shown = async (messages: number) => {
    const seen = new Set<number>();
    await platform.waitFor(
      (event) =>
        event.type === "message" &&
        event.room === roomOf(account as Account, Number(chat?.id))?.key &&
        event.message.from?.is_bot === true &&
        seen.add(event.message.message_id).size === messages,
      10_000,
    );
  };
  yield* perform(scriptFor(text.trim()), shown);
}

interface Place {
  readonly account?: Account;
  readonly chat?: number;
  /** In the topic "Ideas". */
  readonly ideas?: true;
  /** In this topic of the direct chat. */
  readonly directTopic?: number;
}

/** The calls that something leads to, with the messages of its chat named in their order. */
async function callsOf(
  run: () => Promise<void>,
  { account = "plain", chat = ada }: Place,
  others: ReadonlyMap<string, string> = new Map(),
) {
  const since = (platform.calls.list().at(-1)?.seq ?? -1) + 1;
  const known = new Set(roomOf(account, chat)?.messages.keys());
  const seen = new Set<number>();
  const end = platform.on((event) => {
    if (event.type === "message" && event.room === roomOf(account, chat)?.key) seen.add(event.message.message_id);
  });
  await run();
  end();
  const fresh = [...seen].filter((id) => !known.has(id)).sort((a, b) => a - b);
  const messages = new Map(fresh.map((id, index) => [id, `#${index + 1}`]));
  const topics = new Map([[String(topic), "Ideas"], ...others]);
  const calls = platform.calls.list({ since }).filter(({ bot }) => bot === `${account}_bot`);
  return renderCalls(calls, { messages, others: topics });
}

/** Ada says it; resolves when its turn has ended. */
async function says(text: string, { account = "plain", chat = ada, ideas, directTopic }: Place): Promise<void> {
  // The other bots of a group have their own ends.
  const over = new Promise<void>((resolve) => {
    whenEnded.add(function tell(lane) {
      if (!lane.startsWith(`botchat:${account}:${chat}`)) return;
      whenEnded.delete(tell);
      resolve();
    });
  });
  const bot = botOf(account);
  const names = { bot: `${account}_bot` };
  if (directTopic === undefined || bot === undefined)
    platform.act.say(ada, chat, text, { ...names, ...(ideas === true && { thread: topic }) });
  else {
    platform.world.direct(bot, ada).topics.set(directTopic, { id: directTopic, name: "Recipes", closed: false });
    platform.act.send(ada, chat, { text, message_thread_id: directTopic, is_topic_message: true }, names);
  }
  await over;
}

async function acts(body: object): Promise<{ readonly messageId: string }> {
  const token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim();
  const response = await fetch(`${host.url}/gateway/actions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ channel: "botchat", account: "plain", ...("chatId" in body ? {} : { to: ada }), ...body }),
  });
  const result = (await response.json()) as { readonly ok: boolean; readonly messageId: string };
  expect(result).toMatchObject({ ok: true });
  return result;
}

const golden = (name: string) => join(import.meta.dirname, "golden", `${name.replaceAll(" ", "-")}.txt`);

const cases: readonly (readonly [name: string, asked: string, place?: Place])[] = [
  ["plain", "plain"],
  ["markdown", "show markdown"],
  ["table that fits", "show table"],
  ["table that is wide", "wide table"],
  ["code", "show code"],
  ["two parts", "parts"],
  ["messages for paragraphs", "paragraphs", { account: "paragraphs" }],
  ["quote that is folded", "long quote"],
  ["reply by tag", "show reply"],
  ["reply by a tag that names a message", "named reply"],
  ["reply of the first part", "parts", { account: "first" }],
  ["reply of all parts", "parts", { account: "all" }],
  ["reply of a file", "show media", { account: "first" }],
  ["seen in a group", "plain", { chat: kitchen }],
  ["topic", "plain", { chat: workshop, ideas: true }],
  ["general topic", "plain", { chat: workshop }],
  ["topic of a direct chat", "plain", { directTopic: 7 }],
  ["first topic of a direct chat", "plain", { directTopic: 1 }],
  ["file in the first topic of a direct chat", "show media", { directTopic: 1 }],
  ["buttons", "show buttons"],
  ["photo", "show media"],
  ["album", "album"],
  ["animation", "animation"],
  ["video", "video"],
  ["document", "document"],
  ["album of documents", "two documents"],
  ["album of sounds", "two sounds"],
  ["file with buttons", "file to choose"],
  ["album with buttons", "album to choose"],
  ["voice note", "voice"],
  ["voice note by tag", "show voice"],
  ["audio", "audio"],
  ["video note", "video note"],
  ["caption that is too long", "caption"],
  ["file that is missing", "missing"],
  ["prefix and no link preview", "link", { account: "dressed" }],
  ["apology", "error"],
  ["silence", "silence"],
  ["preview", "grow", { account: "partial" }],
  ["preview of two messages", "grow parts", { account: "partial" }],
  ["preview that replies", "grow", { account: "answering" }],
  ["preview in a topic", "grow", { account: "partial", directTopic: 1 }],
  ["preview in blocks", "blocks", { account: "block" }],
  ["preview before a file", "grow file", { account: "growing" }],
  ["preview before buttons", "grow buttons", { account: "growing" }],
  ["preview before an apology", "grow break", { account: "growing" }],
];

/**
 * Each account has its own bot, which sees nothing of the others: a case of one waits for those of the same account
 * only.
 */
const ofAccounts = Map.groupBy(
  cases.map(([name, asked, place = {}]) => ({ name, asked, place })),
  ({ place: { account = "plain" } }) => account,
);

describe.concurrent.each([...ofAccounts.values()].map((own) => ({ own })))("an answer", ({ own }) => {
  test.each(own)("$name", { concurrent: false }, async ({ name, asked, place }) => {
    await expect(await callsOf(() => says(asked, place), place)).toMatchFileSnapshot(golden(name));
  });
});

describe("an answer", () => {
  test("notice of a command", async () => {
    await expect(await callsOf(() => says("/reasoning off", {}), {})).toMatchFileSnapshot(
      golden("notice of a command"),
    );
  });

  test("markup that the platform does not take", async () => {
    platform.faults.add({
      method: "sendMessage",
      times: 1,
      kind: "refuse",
      description: "Bad Request: can't parse entities: x",
    });
    const calls = await callsOf(() => says("show code", {}), {});
    await expect(calls).toMatchFileSnapshot(golden("markup that the platform does not take"));
  });

  test("thoughts that are shown", async () => {
    const place = { account: "partial" } as const;
    await says("/reasoning stream", place);
    await expect(await callsOf(() => says("think", place), place)).toMatchFileSnapshot(
      golden("thoughts that are shown"),
    );
  });
});

test("actions in topics, with files and as replies", async () => {
  const workspace = join(host.directory, "agent");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "silence.mp3"), Buffer.from(sound(), "base64"));
  const run = async () => {
    const { messageId } = await acts({ action: "send", message: "Which one?", threadId: topic, to: workshop });
    await acts({
      action: "send",
      message: "This one.",
      threadId: topic,
      to: workshop,
      replyTo: messageId,
      silent: true,
    });
    await acts({ action: "send", message: "For all.", threadId: 1, to: workshop });
    await acts({
      action: "send",
      message: "Listen.",
      media: "silence.mp3",
      asVoice: true,
      threadId: topic,
      to: workshop,
    });
    await acts({
      action: "edit",
      messageId,
      chatId: workshop,
      message: "Which one now?",
      buttons: [[{ text: "This", callback_data: "t" }]],
    });
    await acts({ action: "edit", messageId, chatId: workshop, message: "None.", buttons: [] });
    await acts({ action: "react", messageId, chatId: workshop, emoji: "👍" });
    await acts({ action: "react", messageId, chatId: workshop, emoji: "" });
  };
  const calls = await callsOf(run, { chat: workshop });
  await expect(calls).toMatchFileSnapshot(golden("actions in topics"));
});

test("actions", async () => {
  const form = new FormData();
  form.set("chat_id", String(ada));
  form.set("sticker", new Blob(["RIFF____WEBPVP8 "], { type: "image/webp" }), "tea.webp");
  const given = await fetch(`${platform.url}/bot${botOf("plain")?.token}/sendSticker`, { method: "POST", body: form });
  const { result } = (await given.json()) as { readonly result: { readonly sticker: { readonly file_id: string } } };
  const run = async () => {
    const { messageId } = await acts({
      action: "send",
      message: "**Tea?**",
      silent: true,
      buttons: [[{ text: "Yes", callback_data: "y" }]],
    });
    await acts({ action: "edit", messageId, message: "_Coffee?_" });
    await acts({ action: "react", messageId, emoji: "🎉" });
    await acts({ action: "delete", messageId });
    await acts({ action: "sticker", fileId: result.sticker.file_id });
  };
  const calls = await callsOf(run, {}, new Map([[result.sticker.file_id, "the sticker"]]));
  await expect(calls).toMatchFileSnapshot(golden("actions"));
});
