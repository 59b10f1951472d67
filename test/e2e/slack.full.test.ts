/** The example of Slack as a reader follows it: the whole program, in a workspace whose addresses alone differ. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { root } from "../house/sources.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { appToken, botToken, oauth, startSlack } from "../support/slack/server.ts";
import { adaDirect, bot, bread, eve, shownText } from "../support/slack/world.ts";

async function launch(more: Readonly<Record<string, string>> = {}) {
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
  const env = { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken, ...more };
  const service = async (...args: readonly string[]) => await run([...args, "--config", config], { home, env });
  const seen = (channel: string) =>
    (slack.world.channels.get(channel)?.messages ?? []).filter(({ user }) => user === bot.user);
  return { slack, home, service, seen, start: () => startGateway(["gateway", "--config", config], { home, env }) };
}

test("the example runs as printed: manifest, pairing, a mention, and what is missing is named", async () => {
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

test("the app is installed in one more workspace by its sign-in, and the account it prints works", async () => {
  const { slack, home, service } = await launch({ SLACK_CLIENT_SECRET: oauth.secret });
  const install = async (...more: readonly string[]) =>
    await service("slack", "install", "--client-id", oauth.id, "--api-url", slack.apiUrl, "--json", ...more);
  const { url } = JSON.parse((await install()).out) as { readonly url: string };
  const asked = new URL(url).searchParams;
  expect(asked.get("scope")?.split(",")).toContain("chat:write");
  const answer = (state: string | null) => `${asked.get("redirect_uri")}?code=${oauth.code}&state=${state}`;
  const words = async (address: string) => {
    const { out, err } = await install("--address", address);
    return out + err;
  };
  expect(await words(answer("another"))).toContain("Begin again");
  expect(await words("https://localhost/slack?error=access_denied")).toContain("access_denied");
  const done = await install("--address", answer(asked.get("state")));
  const { account, team } = JSON.parse(done.out) as {
    readonly account: { readonly botToken: { readonly file: string } };
    readonly team: string;
  };
  expect([done.code, team]).toEqual([0, "T0TEAM001"]);
  expect(done.out).not.toContain(botToken);
  expect(readFileSync(account.botToken.file, "utf8").trim()).toBe(botToken);
  expect(statSync(account.botToken.file).mode & 0o777).toBe(0o600);
  expect((await install("--address", answer(asked.get("state")))).code).toBe(1);
  const config = join(home, "installed.jsonc");
  const channels = {
    slack: { apiUrl: slack.apiUrl, signingSecret: "secret-of-the-app", accounts: { bakery: account } },
  };
  writeFileSync(config, JSON.stringify({ plugins: { load: [join(root, "plugins", "slack")] }, channels }));
  const probed = await run(["channels", "status", "--probe", "--config", config], { home, env: {} });
  expect(probed.out).toMatch(/slack:bakery/);
  expect(probed.out).toContain("@gateway");
});
