/**
 * The gate at each way in, from the platform's side: who is kept out costs nothing, hears nothing and leaves nothing
 * behind.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { createPairing } from "../../core/access/pairing.ts";
import { programCommand } from "../../core/contract/command.ts";
import { product } from "../../core/contract/product.ts";
import { defineEngine, definePlugin } from "../../core/sdk/contract.ts";
import type { EventReport } from "../../core/state/report.ts";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { run } from "../core/cli/command-runner.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { answered, answers, openChannel, openPlatform } from "./room.ts";

const [ada, bela, chen] = [1001, 1002, 1003];
const kitchen = -1_001_000_000_001;
const workshop = -1_001_000_000_002;
const news = -1_001_000_000_003;
const me = "@e2e_bot";

const open: TestHost[] = [];
afterEach(async () => {
  for (const host of open.splice(0)) {
    await host.close();
    removeDirectory(host.directory);
  }
});

/** Says back what it hears, with a button below. */
const repeat = defineEngine({
  id: "scripted",
  version: "1.0.0",
  host: "^0.2.0",
  async *run({ inbound }) {
    yield { type: "text", delta: `heard: ${inbound.text}` };
    yield { type: "buttons", buttons: [[{ text: "More", value: "more" }]] };
    yield { type: "done" };
  },
});

const keys = definePlugin({
  id: "keys",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.command({ name: "keys", summary: "Of the house.", role: "owner", run: () => "here they are" });
  },
});

async function room(): Promise<Platform> {
  const platform = await openPlatform({ privacy: false });
  platform.world.addGroup({ id: news, type: "channel", title: "News" });
  const bot = platform.world.bots[0]?.user.id ?? 0;
  // Reactions in groups are shown to administrators only.
  for (const chat of [kitchen, workshop]) platform.world.group(chat)?.members.set(bot, "administrator");
  return platform;
}

async function serve(
  platform: Platform,
  channel: object,
  more: object = {},
  directory = temporaryDirectory(),
  accounts = 1,
): Promise<TestHost> {
  const config = {
    commands: { ownerAllowFrom: undefined },
    channels: { botchat: openChannel(platform, channel) },
    ...more,
  };
  const started = await createTestHost({
    directory,
    config,
    plugins: [botchat, repeat, keys],
    allowErrors: [/^error in the log/],
  });
  open.push(started);
  await expect
    .poll(async () => (await started.accounts()).flatMap(({ channel: id, state }) => (id === "botchat" ? [state] : [])))
    .toEqual(Array.from({ length: accounts }, () => "connected"));
  return started;
}

async function close(started: TestHost): Promise<void> {
  open.splice(open.indexOf(started), 1);
  await started.close();
}

/** Ends of the events, newest first, once nothing waits and so many have come. */
async function ended({ directory }: TestHost, least: number): Promise<readonly EventReport[]> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  try {
    let reports: readonly EventReport[] = [];
    await expect
      .poll(
        async () => {
          reports = await store.events({ limit: 1_000, source: "botchat" });
          return reports.filter(({ state }) => state === "settled").length;
        },
        { interval: 30 },
      )
      .toBeGreaterThanOrEqual(least);
    expect(reports.filter(({ state }) => state !== "settled")).toEqual([]);
    return reports;
  } finally {
    await store.close();
  }
}

/** What a bot asks for when it begins, and then again and again. */
const connecting: ReadonlySet<string> = new Set([
  "getMe",
  "getWebhookInfo",
  "getMyCommands",
  "setMyCommands",
  "getUpdates",
]);

const ownTables: ReadonlySet<string> = new Set(["inbox", "units", "decisions", "dedupe", "numbers"]);

/** Rows of every table that is not the record of the event itself. */
function rowsOf({ directory }: TestHost): Readonly<Record<string, number>> {
  // The tables of another store are its own matter.
  if (process.env.SERVICE_TEST_STORE !== undefined) return {};
  const db = new DatabaseSync(join(directory, "state", "state.db"), { readOnly: true });
  try {
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .all() as {
      name: string;
    }[];
    const names = tables.map(({ name }) => name).filter((name) => !ownTables.has(name));
    expect(names.length).toBeGreaterThan(4);
    return Object.fromEntries(
      names.map((name) => [name, Number(db.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.n)]),
    );
  } finally {
    db.close();
  }
}

const filesOf = ({ directory }: TestHost): readonly string[] =>
  (readdirSync(join(directory, "state"), { recursive: true }) as string[])
    .filter((name) => !name.startsWith("state.db"))
    .sort();

const buttonsIn = (platform: Platform, chat: number): number => {
  const place = [...platform.world.rooms.values()].find((one) => one.chat.id === chat);
  return [...(place?.messages.values() ?? [])].find(({ reply_markup }) => reply_markup !== undefined)?.message_id ?? 0;
};

const photo = { kind: "photo", bytes: Buffer.from("not looked at"), fileName: "a.png", mimeType: "image/png" } as const;
const mention = [{ type: "mention", offset: 0, length: me.length }];

/** Everything that somebody can do in a chat; returns how many updates that makes. */
function doEverything(
  platform: Platform,
  person: number,
  chat: number,
  options: { readonly thread?: number } = {},
): number {
  const { act } = platform;
  const said = act.say(person, chat, `${me} let me in`, options);
  act.edit(person, chat, said.message_id, `${me} do let me in`);
  act.say(person, chat, `/help${me}`, options);
  act.say(person, chat, `/new${me}`, options);
  act.say(person, chat, `/keys${me}`, options);
  act.say(person, chat, `${me} look`, { ...options, media: photo });
  act.press(person, chat, buttonsIn(platform, chat), "more");
  act.react(person, chat, said.message_id, ["👍"]);
  if (chat > 0) return 8;
  act.send(
    person,
    chat,
    { text: `${me} as nobody`, entities: mention, sender_chat: { id: chat, type: "supergroup" } },
    options,
  );
  act.send(
    person,
    chat,
    { text: `${me} as a channel`, entities: mention, sender_chat: { id: news, type: "channel" } },
    options,
  );
  return 10;
}

describe("a sender who is refused", () => {
  test.each<[string, object, readonly string[]]>([
    [
      "by the lists",
      { dmPolicy: "allowlist", allowFrom: [ada], groupPolicy: "allowlist" },
      ["sender_not_allowed", "group_sender_not_allowed"],
    ],
    [
      "by the policies",
      { dmPolicy: "disabled", allowFrom: ["*"], groupPolicy: "disabled" },
      ["dm_disabled", "group_policy_disabled"],
    ],
    [
      "by the groups that are named",
      { dmPolicy: "allowlist", allowFrom: [ada], groupPolicy: "open", groups: { "-1": {} } },
      ["sender_not_allowed", "group_not_listed"],
    ],
    [
      "by a switch",
      { dmPolicy: "disabled", groupPolicy: "open", groups: { "*": { enabled: false } } },
      ["dm_disabled", "group_disabled"],
    ],
  ])("%s causes no call to the platform, no file, and no row except the decision", async (_name, channel, codes) => {
    const platform = await room();
    const before = await serve(platform, { groupPolicy: "open" });
    const [topic = 0] = [
      ...([...platform.world.rooms.values()].find(({ chat }) => chat.id === workshop)?.topics.keys() ?? []),
    ].slice(1);
    platform.act.say(bela, bela, "hello");
    platform.act.say(bela, kitchen, `${me} hello`);
    platform.act.say(bela, workshop, `${me} hello`, { thread: topic });
    for (const chat of [bela, kitchen, workshop]) await answered(platform, chat, "heard");
    const known = (await ended(before, 3)).length;
    await close(before);

    const gateway = await serve(platform, channel, {}, before.directory);
    const seq = platform.calls.list().at(-1)?.seq ?? 0;
    const [rows, files] = [rowsOf(gateway), filesOf(gateway)];

    let updates = doEverything(platform, bela, bela) + doEverything(platform, bela, kitchen);
    updates += doEverything(platform, bela, workshop, { thread: topic });
    platform.act.post(news, `${me} breaking news`);
    const reports = (await ended(gateway, known + updates + 1)).slice(0, updates + 1);

    expect(
      reports.filter(({ outcome }) => outcome !== "refused").map(({ id, outcome, reason }) => [id, outcome, reason]),
    ).toEqual([]);
    expect([...new Set(reports.map(({ reason }) => reason))].sort()).toEqual([...codes].sort());
    for (const { decisions } of reports) {
      expect(decisions.map(({ station }) => station)).toEqual(["ingress", "gating"]);
      expect(decisions[1]).toMatchObject({
        path: expect.stringMatching(/^channels\.botchat\./),
        hint: expect.stringMatching(/\S/),
      });
    }
    // The notice that ends the waiting of a button is the one thing that a press gets in any case.
    const made = platform.calls.list().filter((call) => call.seq > seq && call.method !== "answerCallbackQuery");
    expect(made.map(({ method }) => method).filter((method) => !connecting.has(method))).toEqual([]);
    expect(filesOf(gateway)).toEqual(files);
    expect(rowsOf(gateway)).toEqual(rows);
  });

  test("gets the pairing text for a first message, even a command, and one notice for later ones", {
    timeout: 90_000,
  }, async () => {
    const platform = await room();
    const gateway = await serve(platform, { dmPolicy: "pairing", allowFrom: [], groupPolicy: "allowlist" });
    platform.act.say(bela, bela, "/help");
    await answered(platform, bela, "pairing approve");
    const notice = answers(platform, bela).at(-1) ?? "";
    const [, code = "none"] = /Pairing code: (\w{8})\b/.exec(notice) ?? [];
    expect(notice).toContain(product.name);
    expect(notice).toContain(`Your id: ${bela}`);
    expect(notice).toContain(`${programCommand} pairing approve botchat ${code}`);
    await ended(gateway, 1);
    const rows = rowsOf(gateway);
    platform.act.say(bela, bela, "/new");
    platform.act.say(bela, bela, "let me in", { media: photo });
    const reports = await ended(gateway, 3);
    expect(new Set(reports.map(({ reason }) => reason))).toEqual(new Set(["pairing_required"]));
    const sent = platform.calls.list().filter(({ method }) => method.startsWith("send"));
    expect(sent).toHaveLength(2);
    expect(answers(platform, bela).at(-1)).toContain("I wait for the owner's approval");
    expect(platform.calls.list({ method: "getFile" })).toEqual([]);
    const { outbox = 0, sent: kept = 0 } = rows;
    expect(rowsOf(gateway)).toEqual({ ...rows, ...(outbox > 0 && { outbox: outbox + 1, sent: kept + 1 }) });
  });
});

describe("a sender who has access", () => {
  test("by pairing may write in that direct chat, in the thread of the request, but in no group", async () => {
    const platform = await room();
    const gateway = await serve(platform, {
      dmPolicy: "pairing",
      allowFrom: [],
      groups: { "*": { requireMention: false } },
    });
    platform.act.send(bela, bela, { text: "hello", message_thread_id: 77, is_topic_message: true });
    [...platform.world.rooms.values()]
      .find(({ chat }) => chat.id === bela)
      ?.topics.set(77, { id: 77, name: "Help", closed: false });
    await answered(platform, bela, "pairing approve");
    const threads = () => platform.calls.list({ method: "sendMessage" }).map(({ params }) => params.message_thread_id);
    expect(threads().map(Number)).toEqual([77]);
    const store = await openSqliteStore({ directory: join(gateway.directory, "state"), now: Date.now });
    const pairing = createPairing({ store, now: Date.now });
    const [request] = await pairing.pending("botchat");
    expect(await pairing.approve("botchat", request?.code ?? "")).toMatchObject({ ok: true, madeOwner: true });
    await store.close();
    platform.act.say(bela, bela, "hello again");
    await answered(platform, bela, "heard: hello again");
    expect(threads()[1]).toBeUndefined();
    platform.act.say(bela, kitchen, "and here?");
    const [last] = await ended(gateway, 3);
    expect(last).toMatchObject({ outcome: "refused", reason: "group_sender_not_allowed" });
    expect(answers(platform, kitchen)).toEqual([]);
    platform.act.say(bela, bela, "/keys");
    await answered(platform, bela, "here they are");
  });

  test("by pairing is notified by the bot of that account, is owner only there, and is unknown to the other account", {
    timeout: 60_000,
  }, async () => {
    const platform = await createPlatform({
      bots: [
        { token: "4242:first", username: "first_bot", name: "First" },
        { token: "4343:second", username: "second_bot", name: "Second" },
      ],
    });
    onTestFinished(() => platform.close());
    const said = (bot: string): string => {
      const id = platform.world.bots.find(({ user }) => user.username === bot)?.user.id;
      const place = [...platform.world.rooms.values()].find((one) => one.bot === id && one.chat.id === bela);
      return [...(place?.messages.values() ?? [])]
        .flatMap(({ from, text = "" }) => (from.is_bot ? [text] : []))
        .join("\n");
    };
    const heard = (bot: string, text: string | RegExp) => expect.poll(() => said(bot), { interval: 30 }).toMatch(text);
    const accounts = { first: { botToken: "4242:first" }, second: { botToken: "4343:second" } };
    const gateway = await serve(
      platform,
      { botToken: undefined, dmPolicy: "pairing", allowFrom: [], accounts },
      {},
      temporaryDirectory(),
      2,
    );

    platform.act.say(bela, bela, "hello", { bot: "second_bot" });
    await heard("second_bot", /pairing approve botchat [A-Z2-9]{8} --account second/);
    const [, code = ""] = /approve botchat ([A-Z2-9]{8})/.exec(said("second_bot")) ?? [];
    const cli = (...args: readonly string[]) =>
      run([...args, "--config", gateway.configFile], { home: gateway.directory });
    expect(await cli("pairing", "deny", "botchat", code, "--account", "first")).toMatchObject({ code: 1 });
    expect((await cli("pairing", "approve", "botchat", code, "--account", "second")).out).toMatch(
      /account second\), and is an owner now/,
    );
    await heard("second_bot", "You are approved");
    platform.act.say(bela, bela, "/keys", { bot: "second_bot" });
    await heard("second_bot", "here they are");
    platform.act.say(bela, bela, "/keys", { bot: "first_bot" });
    await heard("first_bot", "--account first");
    expect(said("first_bot")).not.toMatch(/approved|here they are/);
  });

  test("as a chat may talk in open groups and use only the commands that are open to everyone", async () => {
    const platform = await room();
    const gateway = await serve(platform, { allowFrom: ["*"], groupPolicy: "open", groupAllowFrom: [ada] });
    const anonymous = (text: string) =>
      platform.act.send(ada, kitchen, {
        text,
        entities: text.startsWith("/") ? [{ type: "bot_command", offset: 0, length: text.length }] : mention,
        sender_chat: { id: kitchen, type: "supergroup", title: "Kitchen table" },
      });
    anonymous(`${me} good morning`);
    await answered(platform, kitchen, "good morning");
    anonymous(`/whoami${me}`);
    await answered(platform, kitchen, "Owner: no");
    anonymous(`/new${me}`);
    await answered(platform, kitchen, "works for people only");
    anonymous(`/keys${me}`);
    const [last] = await ended(gateway, 4);
    expect(last).toMatchObject({ outcome: "refused", reason: "command_needs_sender" });
    platform.act.post(news, `${me} breaking news`);
    await answered(platform, news, "breaking news");
    platform.act.post(news, "news for people");
    const [post] = await ended(gateway, 6);
    expect(post).toMatchObject({ outcome: "silent", reason: "mention_required" });
  });

  test("but without ownership gets the refusal in the same topic, and `why` names the list", async () => {
    const platform = await room();
    const more = { commands: { ownerAllowFrom: [chen] } };
    const gateway = await serve(platform, { groupPolicy: "open", allowFrom: [ada, "*"] }, more);
    const topic =
      [...([...platform.world.rooms.values()].find(({ chat }) => chat.id === workshop)?.topics.keys() ?? [])][1] ?? 0;
    platform.act.say(ada, workshop, `/keys${me}`, { thread: topic });
    await answered(platform, workshop, "Only the owner");
    const [sent] = platform.calls.list({ method: "sendMessage" });
    expect(Number(sent?.params.message_thread_id)).toBe(topic);
    const [refused] = await ended(gateway, 1);
    expect(refused).toMatchObject({ outcome: "refused", reason: "owner_required" });
    expect(refused?.decisions.find(({ station }) => station === "gating")).toMatchObject({
      path: "commands.ownerAllowFrom",
      hint: 'Add "1001" to commands.ownerAllowFrom.',
    });
    platform.act.say(chen, workshop, `/keys${me}`, { thread: topic });
    await answered(platform, workshop, "here they are");
  });
});
