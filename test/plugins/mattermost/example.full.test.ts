/** The example's page, followed by a stranger: the real program, as printed except for its addresses. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";
import { startGateway } from "../../core/cli/gateway-runner.ts";
import { root } from "../../house/sources.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { startMattermost } from "../../support/mattermost/server.ts";

test("the example answers in private and in a channel, and doctor names what is missing", async () => {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const { ada, bela, bot, chat, room } = server;
  const home = temporaryHome();
  const text = readFileSync(join(root, "examples", "mattermost", "config.jsonc"), "utf8")
    .replace("../../plugins/mattermost", join(root, "plugins", "mattermost"))
    .replace("https://chat.example.org", server.url)
    .replace("http://127.0.0.1:11434/v1", model.url)
    .replace("{", '{ "gateway": { "port": 0 },');
  const config = join(home, "config.jsonc");
  writeFileSync(config, text);
  const env = { MATTERMOST_TOKEN: bot.token };
  const service = (...args: readonly string[]) => run([...args, "--config", config], { home, env });
  expect((await service("config", "validate")).code).toBe(0);
  const gateway = startGateway(["gateway", "--config", config], { home, env });
  const url = /ready at (http:\S+)/.exec(await gateway.until(/ready at http:\S+ /))?.[1] ?? "";
  const answers = (channel = chat) => server.posts(channel, bot).map(({ message }) => message);
  const status = async () => (await service("channels", "status", "--probe")).out;
  await expect.poll(status, { interval: 100 }).toMatch(/mattermost:default\s+connected/);
  expect(await status()).toContain("/channels/mattermost/default/press");
  expect(await status()).toContain("@breadbot on Mattermost 11.9.0");

  server.say(ada, chat, "hello");
  await expect.poll(() => answers()).toEqual([expect.stringMatching(/Pairing code: \W*[A-Z2-9]{8}/)]);
  const [, code = ""] = /Pairing code: \W*(\w+)/.exec(answers()[0] ?? "") ?? [];
  expect((await service("pairing", "approve", "mattermost", code)).code).toBe(0);
  server.say(ada, chat, "what is bread?");
  await expect.poll(() => answers().join("\n")).toContain("what is bread?");
  server.say(bela, room, "@breadbot and what is cake?");
  await expect.poll(() => answers(room).join("\n")).toContain("and what is cake?");
  server.say(bela, room, "@breadbot !help");
  await expect.poll(() => answers(room).join("\n")).toContain("!help");

  const stranger = await fetch(`${url}/channels/mattermost/default/press`, { method: "POST", body: "{}" });
  expect(stranger.status).toBe(401);

  for (const channel of server.world.channels.values()) if (channel.type !== "D") channel.members.delete(bot.id);
  server.world.config.EnableFileAttachments = "false";
  const { out } = await service("doctor");
  expect(out).toMatch(/in no team[\s\S]*\/invite @breadbot/);
});

test("a wrong token and a proxy without WebSocket are named, with what to press", async () => {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  const home = temporaryHome();
  const config = join(home, "config.jsonc");
  const channels = { mattermost: { url: server.url, token: "wrong-token-0123456789" } };
  const load = [join(root, "plugins", "mattermost")];
  writeFileSync(config, JSON.stringify({ gateway: { port: 0 }, plugins: { load }, channels }));
  const service = (...args: readonly string[]) => run([...args, "--config", config], { home });
  const gateway = startGateway(["gateway", "--config", config], { home });
  await gateway.until(/ready at/);
  const status = async () => (await service("channels", "status")).out;
  await expect.poll(status, { interval: 100 }).toMatch(/failed[\s\S]*Create New Token/);
  expect(await status()).not.toContain("wrong-token");
  server.refuseWebSockets();
  writeFileSync(
    config,
    JSON.stringify({
      gateway: { port: 0 },
      plugins: { load },
      channels: { mattermost: { url: server.url, token: server.bot.token } },
    }),
  );
  await expect.poll(status, { interval: 100, timeout: 20_000 }).toMatch(/waiting[\s\S]*WebSocket upgrades/);
});
