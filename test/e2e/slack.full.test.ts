/** The example of Slack as a reader follows it: the whole program, in a workspace that only its addresses tell apart. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { root } from "../house/sources.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { appToken, botToken, startSlack } from "../support/slack/server.ts";
import { adaDirect, bot, bread, eve, shownText } from "../support/slack/world.ts";

async function launch() {
  const slack = await startSlack();
  onTestFinished(() => slack.close());
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const home = temporaryHome();
  const text = readFileSync(join(root, "examples", "slack", "config.jsonc"), "utf8")
    .replace("../../plugins/slack", join(root, "plugins", "slack"))
    .replace('"slack": {', `"slack": { "apiUrl": "${slack.apiUrl}",`)
    .replace("http://127.0.0.1:11434/v1", model.url)
    .replace("{", '{ "gateway": { "port": 0 },');
  const config = join(home, "config.jsonc");
  writeFileSync(config, text);
  const env = { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken };
  const service = async (...args: readonly string[]) => await run([...args, "--config", config], { home, env });
  const seen = (channel: string) =>
    (slack.world.channels.get(channel)?.messages ?? []).filter(({ user }) => user === bot.user);
  return { slack, service, seen, start: () => startGateway(["gateway", "--config", config], { home, env }) };
}

test("the example runs as printed: manifest, pairing, a mention in a thread, and what is missing is named", async () => {
  const { slack, service, seen, start } = await launch();
  const manifest = await service("slack", "manifest", "--name", "Baker");
  expect(manifest.code).toBe(0);
  expect(JSON.parse(manifest.out)).toMatchObject({
    display_information: { name: "Baker" },
    settings: { socket_mode_enabled: true },
  });
  expect((await service("config", "validate")).code).toBe(0);
  await start().until(/ready at/);
  const status = async () => (await service("channels", "status", "--probe")).out;
  await expect.poll(status, { interval: 200 }).toMatch(/slack:default +connected/);
  slack.people.say("hello");
  await expect.poll(() => seen(adaDirect).map(shownText).join()).toMatch(/Pairing code: `[A-Z2-9]{8}/);
  const [, code = ""] = /Pairing code: `(\w+)/.exec(seen(adaDirect).map(shownText).join()) ?? [];
  expect((await service("pairing", "approve", "slack", code, "--owner")).code).toBe(0);
  await expect.poll(() => seen(adaDirect).map(shownText).join()).toContain("approved");
  const mention = slack.people.say(`<@${bot.user}> what is bread?`, { channel: bread, user: eve });
  await expect.poll(() => seen(bread).map(({ thread_ts }) => thread_ts)).toEqual([mention]);
  expect(shownText(seen(bread)[0] ?? { text: "" })).toContain("what is bread?");
  slack.scopes = slack.scopes.filter((scope) => scope !== "files:write");
  expect(await status()).toContain("files:write");
  expect((await service("doctor")).out).toContain("add files:write under OAuth & Permissions");
  expect(slack.complaints).toEqual([]);
});

test("a wrong token, and one of another kind, are named before and after the start", async () => {
  const { slack, service, start } = await launch();
  slack.refusal = "invalid_auth";
  start();
  await expect
    .poll(async () => (await service("channels", "status")).out, { interval: 200 })
    .toContain("press OAuth & Permissions > Reinstall to Workspace");
  const { out, err } = await service("config", "set", "channels.slack.botToken", '"xapp-1-another"');
  expect(out + err).toContain("is not a token that begins with xoxb-");
  expect(out + err).not.toContain("xapp-1-another");
});
