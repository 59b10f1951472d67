/** Several bots in one gateway: each with its own settings, people, conversations and troubles. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../core/gateway/gateway.ts";
import type { EngineTurn } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createEngine } from "../support/gateway.ts";
import { openChannel, people } from "./room.ts";

const home = "5001:home-token-AbCdEf";
const work = "5002:work-token-AbCdEf";
const spare = "5003:spare-token-AbCdEf";
const kitchen = -1_001_000_000_001;
const soon = { interval: 30 };

async function prepare(channel: (platform: Platform) => object) {
  const bot = (token: string, username: string) => ({
    token,
    username,
    name: username,
    privacy: false,
    firstUpdateId: 500,
  });
  const platform = await createPlatform({
    bots: [bot(home, "home_bot"), bot(work, "work_bot"), bot(spare, "spare_bot")],
  });
  onTestFinished(() => platform.close());
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const file = join(directory, "config.jsonc");
  const configure = (botchatSection: object) =>
    writeFileSync(
      file,
      JSON.stringify({
        gateway: { port: 0, drainSeconds: 2 },
        state: { dir: "state" },
        agents: { defaults: { engine: "scripted" } },
        channels: { botchat: botchatSection },
      }),
    );
  configure(channel(platform));
  const turns: EngineTurn[] = [];
  const engine = createEngine((turn) => {
    turns.push(turn);
    return `${turn.inbound.account} heard ${turn.inbound.text}`;
  });
  const gateway = await createGateway({
    configFile: file,
    environment: {},
    bundled: false,
    plugins: [botchat, engine],
  });
  onTestFinished(() => gateway.close());
  const said = (username: string, chat: number) => {
    const room = [...platform.world.rooms.values()].filter((one) => one.chat.id === chat);
    const bot = platform.world.bots.find(({ user }) => user.username === username)?.user.id;
    return room.flatMap((one) =>
      [...one.messages.values()].filter(({ from }) => from.id === bot).map(({ text }) => text),
    );
  };
  const status = async (account: string) =>
    (await gateway.describe()).accounts.find((one) => one.account === account)?.status;
  const connected = (...accounts: readonly string[]) =>
    expect
      .poll(async () => await Promise.all(accounts.map(async (one) => (await status(one))?.state)), soon)
      .toEqual(accounts.map(() => "connected"));
  return {
    platform,
    gateway,
    file,
    turns,
    said,
    status,
    connected,
    configure,
    log: () => readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8"),
  };
}

test("two bots in one group decide, answer and remember independently", async () => {
  const place = await prepare((platform) => {
    const { botToken: _own, ...shared } = openChannel(platform, { streamMode: "off", groupPolicy: "open" }) as {
      botToken: string;
    };
    return {
      ...shared,
      groups: { "*": { requireMention: true } },
      accounts: {
        default: { botToken: home },
        work: { botToken: work, groups: { "*": { requireMention: false } }, dmPolicy: "disabled" },
      },
    };
  });
  const { platform, said, turns } = place;
  await place.connected("default", "work");
  const [ada = 0] = people(platform);
  platform.act.say(ada, kitchen, "who is there?");
  await expect.poll(() => said("work_bot", kitchen), soon).toEqual(["work heard who is there?"]);
  platform.act.say(ada, kitchen, "and @home_bot?");
  await expect.poll(() => said("home_bot", kitchen), soon).toEqual(["default heard and @home_bot?"]);
  await expect.poll(() => said("work_bot", kitchen).length, soon).toBe(2);
  expect(turns.map(({ sessionKey }) => sessionKey).sort()).toEqual([
    `agent:main:botchat:group:${kitchen}`,
    `agent:main:botchat:work:group:${kitchen}`,
    `agent:main:botchat:work:group:${kitchen}`,
  ]);
  expect(turns.find(({ inbound }) => inbound.account === "default")?.messages).toHaveLength(1);
  platform.act.say(ada, ada, "hello home", { bot: "home_bot" });
  await expect.poll(() => said("home_bot", ada), soon).toEqual(["default heard hello home"]);
  platform.act.say(ada, ada, "hello work", { bot: "work_bot" });
  await expect.poll(() => place.log(), soon).toContain("dm_disabled");
  expect(said("work_bot", ada)).toEqual([]);
});

test("a revoked token, a second token of one bot and a wrong value stop only their accounts", async () => {
  const place = await prepare((platform) => {
    const { botToken: _own, ...shared } = openChannel(platform, { streamMode: "off" }) as { botToken: string };
    const accounts = {
      default: { botToken: home },
      work: { botToken: "5002:revoked-token" },
      twin: { botToken: "5001:home-token-that-is-newer" },
      wrong: { botToken: "5004:wrong-token", dmPolicy: "nobody" },
      spare: { botToken: spare },
    };
    return { ...shared, accounts };
  });
  const { platform } = place;
  const [ada = 0] = people(platform);
  await place.connected("default", "spare");
  await expect.poll(async () => (await place.status("work"))?.state, soon).toBe("failed");
  expect((await place.status("work"))?.hint).toContain("Set botToken");
  expect(await place.status("twin")).toMatchObject({
    state: "failed",
    detail: expect.stringMatching(
      /accounts\.twin\.botToken: signs in as 5001, and so does channels\.botchat\.accounts\.default\.botToken/,
    ),
  });
  expect(await place.status("wrong")).toMatchObject({
    state: "failed",
    detail: expect.stringContaining("config validate"),
  });
  platform.act.say(ada, ada, "still there?", { bot: "spare_bot" });
  await expect.poll(() => place.said("spare_bot", ada), soon).toEqual(["spare heard still there?"]);
  expect(place.log()).not.toMatch(/revoked-token|that-is-newer|wrong-token/);
  expect(platform.calls.list().filter(({ bot }) => bot === undefined).length).toBeLessThan(5);
});

test("another bot's token in place of the old one skips no waiting update, even one with a known id", async () => {
  const place = await prepare((platform) => openChannel(platform, { streamMode: "off", botToken: home }));
  const { platform } = place;
  const [ada = 0] = people(platform);
  await place.connected("default");
  for (const text of ["one", "two", "three"]) platform.act.say(ada, ada, text, { bot: "home_bot" });
  await expect.poll(() => place.said("home_bot", ada), soon).toHaveLength(3);
  for (const text of ["uno", "due"]) platform.act.say(ada, ada, text, { bot: "work_bot" });
  place.configure(openChannel(platform, { streamMode: "off", botToken: work }));
  await expect.poll(() => place.said("work_bot", ada), soon).toEqual(["default heard uno", "default heard due"]);
  expect((await place.status("default"))?.identity?.username).toBe("work_bot");
  // And back: what the first bot was told in the meantime is handled, what it had handled is not handled again.
  platform.act.say(ada, ada, "four", { bot: "home_bot" });
  place.configure(openChannel(platform, { streamMode: "off", botToken: home }));
  await expect.poll(() => place.said("home_bot", ada), soon).toHaveLength(4);
  expect(place.turns.map(({ inbound }) => inbound.text)).toEqual(["one", "two", "three", "uno", "due", "four"]);
});

test("settings that need no reconnect can change during a running poll", async () => {
  const place = await prepare((platform) => openChannel(platform, { botToken: home, polling: { timeoutSeconds: 30 } }));
  const { platform } = place;
  await place.connected("default");
  const [ada = 0] = people(platform);
  platform.act.say(ada, ada, "hello", { bot: "home_bot" });
  await expect.poll(() => place.said("home_bot", ada), soon).toHaveLength(1);
  // The poll that confirms it is the one that runs from now on.
  await expect.poll(() => platform.pending(), soon).toBe(0);
  const polls = () => platform.calls.list({ method: "getUpdates" }).length;
  const before = polls();
  const customCommands = [{ command: "brew", description: "Make tea" }];
  place.configure(
    openChannel(platform, {
      botToken: home,
      polling: { timeoutSeconds: 30 },
      ackReaction: "👀",
      replyToMode: "all",
      customCommands,
    }),
  );
  await expect
    .poll(() => JSON.stringify(platform.calls.list({ method: "setMyCommands" }).at(-1)?.params ?? ""), soon)
    .toContain("brew");
  expect(polls()).toBe(before);
  expect(platform.calls.list({ method: "getMe" })).toHaveLength(1);
  platform.act.say(ada, ada, "again", { bot: "home_bot" });
  await expect.poll(() => platform.calls.list({ method: "setMessageReaction" }).length, soon).toBeGreaterThan(0);
});

test("root keys with a token stay the account default beside another one; the log lists the accounts", async () => {
  const one = (platform: Platform) => ({ ...openChannel(platform, { streamMode: "off" }), botToken: home });
  const place = await prepare(one);
  const { platform, said, log } = place;
  await place.connected("default");
  const [ada = 0] = people(platform);
  place.configure({ ...one(platform), accounts: { second: { botToken: work } } });
  await place.connected("default", "second");
  platform.act.say(ada, ada, "the first", { bot: "home_bot" });
  await expect.poll(() => said("home_bot", ada), soon).toEqual(["default heard the first"]);
  platform.act.say(ada, ada, "the second", { bot: "work_bot" });
  await expect.poll(() => said("work_bot", ada), soon).toEqual(["second heard the second"]);
  expect(log()).toContain('"accounts":["botchat:default"],"msg":"these channel accounts are configured"');
  expect(log()).toContain(
    '"accounts":["botchat:default","botchat:second"],"msg":"these channel accounts are configured"',
  );
  // Root keys without a token are defaults and nothing else.
  const { botToken: _none, ...shared } = one(platform);
  place.configure({ ...shared, accounts: { second: { botToken: work } } });
  await expect
    .poll(async () => (await place.gateway.describe()).accounts.map(({ account }) => account), soon)
    .toEqual(["second"]);
});

test("the root token belongs to account default; a second account with it is refused, naming both", async () => {
  const place = await prepare((platform) => ({
    ...openChannel(platform),
    botToken: home,
    accounts: { second: { botToken: home } },
  }));
  await place.connected("default");
  expect(await place.status("second")).toMatchObject({
    state: "failed",
    detail: expect.stringContaining(
      "channels.botchat.accounts.second.botToken: is the same as channels.botchat.botToken",
    ),
  });
});
