/** With several bots, notices and questions reach an owner whom only `commands.ownerAllowFrom` names. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { definePlugin, type PluginHost, Type } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { openChannel, people } from "./room.ts";

const tokens = { home: "5001:home-token-AbCdEf", work: "5002:work-token-AbCdEf" };

async function open(ownerAllowFrom: (ada: number) => readonly unknown[]) {
  const platform = await createPlatform({
    bots: Object.entries(tokens).map(([name, token]) => ({ token, username: `${name}_bot`, name })),
  });
  const [ada = 0, bela = 0] = people(platform);
  let plugin: PluginHost | undefined;
  const lab = definePlugin({
    id: "lab",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      plugin = host;
      const tool = { description: "Burns it.", parameters: Type.Object({}), needsApproval: true } as const;
      host.tool({ name: "burn", ...tool, run: () => "ashes" });
    },
  });
  const { botToken: _, ...shared } = openChannel(platform, { streamMode: "off" }) as { readonly botToken: string };
  const directory = temporaryDirectory();
  const host = await createTestHost({
    directory,
    plugins: [botchat, lab],
    async answer({ inbound, tools }, signal) {
      if (inbound.text !== "burn it") return `heard ${inbound.text}`;
      return String(await tools.find(({ name }) => name === "burn")?.run({}, signal));
    },
    config: {
      commands: { ownerAllowFrom: ownerAllowFrom(ada) },
      agents: { defaults: { engine: "test-engine" } },
      channels: {
        botchat: { ...shared, accounts: { home: { botToken: tokens.home }, work: { botToken: tokens.work } } },
      },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await platform.close();
    removeDirectory(directory);
  });
  const texts = (name: keyof typeof tokens, chat: number) => {
    const bot = platform.world.bots.find(({ user }) => user.username === `${name}_bot`)?.user.id;
    const rooms = [...platform.world.rooms.values()].filter((room) => room.chat.id === chat);
    return rooms.flatMap((room) =>
      [...room.messages.values()].flatMap(({ from, text }) => (from.id === bot ? [text] : [])),
    );
  };
  const say = async (name: keyof typeof tokens, person: number, text: string) => {
    platform.act.say(person, person, text, { bot: `${name}_bot` });
    await expect.poll(() => texts(name, person)).toContain(`heard ${text}`);
  };
  return { platform, directory, ada, bela, say, texts, notify: (text: string) => plugin?.notifyOwner(text) };
}

test("a notice and a question go to the bot to which the owner has written, although a guest wrote last", async () => {
  const { platform, ada, bela, say, texts, notify } = await open((owner) => [owner]);
  await say("work", ada, "hello");
  await say("home", bela, "good day");
  expect(await notify("The model is away.")).toBe(true);
  await expect.poll(() => texts("work", ada)).toContain("The model is away.");
  platform.act.say(bela, bela, "burn it", { bot: "home_bot" });
  await expect.poll(() => texts("work", ada).join("\n")).toContain("burn");
  expect(texts("home", ada)).toEqual([]);
});

test("without a chat of an owner, the log says whom a notice does not reach, and what to do", async () => {
  // The test host has a channel of its own, whose ids can be numbers, too.
  const { directory, bela, say, notify } = await open(() => [42]);
  await say("home", bela, "good day");
  expect(await notify("The model is away.")).toBe(false);
  const log = () => readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8").split("\n");
  const line = () => log().find((one) => one.includes("a notice for the owner was not sent")) ?? "{}";
  await expect
    .poll(() => JSON.parse(line()) as unknown)
    .toMatchObject({
      path: "commands.ownerAllowFrom",
      entries: ["42"],
      hint: expect.stringContaining("let that person write to the bot once"),
    });
});
