/** The whole program with the channel: kills around a send, absences, the example, and what the channel costs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { aroundEach, describe, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { root } from "../house/sources.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { type DiscordServer, startDiscord } from "../support/discord/server.ts";
import { botId, type Channel, usualPermissions } from "../support/discord/world.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { kill, type Running, restart, startGatewayProcess, stop } from "./room.ts";

aroundEach(inOwnTest);

const kills = 50;

async function serve(): Promise<DiscordServer> {
  const server = await startDiscord();
  onTestFinished(() => server.close());
  return server;
}

function configFor({ token, root: apiRoot }: DiscordServer): object {
  const access = {
    dmPolicy: "open",
    allowFrom: ["*"],
    groupPolicy: "open",
    groups: { "*": { requireMention: false } },
  };
  return {
    plugins: { load: [join(root, "plugins", "discord")], entries: { echo: { options: { delayMs: 0 } } } },
    agents: { defaults: { engine: "echo" } },
    session: { dmScope: "per-channel-peer" },
    channels: { discord: { token, apiRoot, streamMode: "off", ...access } },
  };
}

const answers = ({ messages }: Channel): readonly string[] =>
  [...messages.values()].flatMap(({ author, content }) => (author.id === botId ? [content] : []));

const answersTo = (channel: Channel, words: string) => answers(channel).filter((text) => text.includes(words));

async function outcomes({ home, state }: Running): Promise<readonly (string | undefined)[]> {
  const { out } = await run(["events", "list", "--json", "--limit", "200", "--state", state], { home });
  return (JSON.parse(out) as { readonly events: readonly { readonly outcome?: string }[] }).events.map(
    ({ outcome }) => outcome,
  );
}

test(`${kills} kills in the middle of a send: no message is lost, and none is there twice`, async () => {
  const server = await serve();
  const { world } = server;
  const direct = world.direct(world.ada);
  const config = configFor(server);
  Object.assign((config as { channels: { discord: object } }).channels.discord, { streamMode: undefined });
  let gateway = await startGatewayProcess(config);
  await expect.poll(() => server.commands().length, { timeout: 20_000 }).toBeGreaterThan(0);
  for (let round = 1; round <= kills; round += 1) {
    const words = `Word number ${round}.`;
    const channel = round % 2 === 0 ? direct : world.general;
    // In every third round the platform has the message, and its answer never arrives.
    if (round % 3 === 0) server.fail("hang");
    server.say(world.ada, channel, words);
    if (round % 3 === 0)
      await expect.poll(() => answersTo(channel, words).length, { timeout: 20_000, interval: 1 }).toBe(1);
    else await delay(round);
    await kill(gateway);
    gateway = await restart(gateway);
    await expect.poll(() => answersTo(channel, words).length, { message: words, timeout: 60_000 }).toBe(1);
  }
  await expect
    .poll(async () => (await outcomes(gateway)).filter((outcome) => outcome !== "answered"), { timeout: 20_000 })
    .toEqual([]);
  for (let round = 1; round <= kills; round += 1)
    expect([...answersTo(direct, `number ${round}.`), ...answersTo(world.general, `number ${round}.`)]).toHaveLength(1);
  await stop(gateway);
}, 900_000);

describe("an absence", { timeout: 180_000 }, () => {
  test.for([
    { seconds: 1, forgets: false },
    { seconds: 30, forgets: true },
  ])("of the platform: what was said meanwhile arrives once, in order (%o)", async ({ seconds, forgets }) => {
    const server = await serve();
    const { world } = server;
    const gateway = await startGatewayProcess(configFor(server));
    server.say(world.ada, world.general, "before");
    await expect.poll(() => answersTo(world.general, "before").length, { timeout: 20_000 }).toBe(1);
    await server.away();
    const said = Array.from({ length: 5 }, (_, index) => `while away ${index}`);
    for (const text of said) {
      server.say(world.ada, world.general, text);
      await delay((seconds * 1_000) / said.length);
    }
    if (forgets) server.sessions.forget();
    await server.listen();
    await expect.poll(() => answersTo(world.general, "while away 4").length, { timeout: 90_000 }).toBe(1);
    const heard = answers(world.general)
      .join("\n")
      .match(/while away \d/g);
    expect(heard).toEqual(said);
    await stop(gateway);
  });

  test("of the gateway: much that was said meanwhile comes a page at a time", async () => {
    const server = await serve();
    const { world } = server;
    const gateway = await startGatewayProcess(configFor(server));
    server.say(world.ada, world.general, "before");
    await expect.poll(() => answersTo(world.general, "before").length, { timeout: 20_000 }).toBe(1);
    await stop(gateway);
    server.sessions.forget();
    const said = Array.from({ length: 130 }, (_, index) => `item ${index};`);
    for (const text of said) server.say(world.ada, world.general, text);
    const next = await restart(gateway);
    await expect.poll(() => answers(world.general).join("\n").includes("item 129;"), { timeout: 60_000 }).toBe(true);
    expect(
      answers(world.general)
        .join("\n")
        .match(/item \d+;/g),
    ).toEqual(said);
    await stop(next);
  });
});

test("the example runs as printed except for its addresses and ids, and names what is switched off", async () => {
  const server = await serve();
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const { world } = server;
  const home = temporaryHome();
  const text = readFileSync(join(root, "examples", "discord", "config.jsonc"), "utf8")
    .replace("../../plugins/discord", join(root, "plugins", "discord"))
    .replace('"token": {', `"apiRoot": ${JSON.stringify(server.root)}, "token": {`)
    .replace("200000000000000001", world.ada.id)
    .replace("200000000000000002", world.general.id)
    .replace("http://127.0.0.1:11434/v1", model.url)
    .replace("{", '{ "gateway": { "port": 0 },');
  const config = join(home, "config.jsonc");
  writeFileSync(config, text);
  const env = { DISCORD_BOT_TOKEN: server.token };
  const service = async (...args: readonly string[]) => await run([...args, "--config", config], { home, env });
  expect(await service("config", "validate")).toMatchObject({ code: 0 });
  server.settings.messageContent = false;
  server.settings.endpoint = "https://example.test/interactions";
  world.guild.permissions = String(1n << 10n);
  const gateway = startGateway(["gateway", "--config", config], { home, env });
  await gateway.until(/ready at/);
  await expect.poll(async () => (await service("channels", "status")).out, { timeout: 20_000 }).toMatch(/connected/);
  const probed = (await service("channels", "status", "--probe")).out;
  expect(probed).toContain("Message Content Intent");
  expect(probed).toContain("Interactions Endpoint URL");
  expect((await service("doctor")).out).toMatch(/Send Messages/);
  world.guild.permissions = usualPermissions;

  server.say(world.ada, world.general, `<@${botId}> What is bread?`);
  await expect.poll(() => answers(world.general).join(), { timeout: 20_000 }).toMatch(/What is bread/);
  server.say(world.bela, world.direct(world.bela), "And I?");
  server.say(world.ada, world.direct(world.ada), "I am the owner");
  await expect.poll(() => answers(world.direct(world.ada)).join(), { timeout: 20_000 }).toMatch(/I am the owner/);
  expect(answers(world.direct(world.bela))).toEqual([]);
  expect((await service("why", "last")).out).toMatch(/answered/);
  gateway.child.kill("SIGTERM");
  expect((await gateway.finished).code).toBe(0);
  expect(JSON.stringify(await gateway.finished)).not.toContain(server.token);
}, 120_000);

test("a slash command is answered once, and the press of a stranger is refused to them alone", async () => {
  const server = await serve();
  const { world } = server;
  const config = configFor(server) as { channels: { discord: object } };
  Object.assign(config.channels.discord, {
    dmPolicy: "allowlist",
    groupPolicy: "allowlist",
    allowFrom: [world.ada.id],
  });
  const gateway = await startGatewayProcess(config);
  await expect.poll(() => server.commands().length, { timeout: 20_000 }).toBeGreaterThan(3);
  server.slash(world.ada, world.general, "status");
  await expect
    .poll(() => [...world.general.messages.values()].filter(({ onlyFor }) => onlyFor === world.ada.id).length, {
      timeout: 20_000,
    })
    .toBe(1);
  server.press(world.bela, undefined, world.general, "approve:anything");
  await expect
    .poll(() => [...world.general.messages.values()].filter(({ onlyFor }) => onlyFor === world.bela.id).length, {
      timeout: 20_000,
    })
    .toBe(1);
  expect(answers(world.general)).toHaveLength(2);
  await stop(gateway);
}, 60_000);
