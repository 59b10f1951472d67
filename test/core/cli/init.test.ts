/** `init` without questions: what it writes, what it refuses, and what it leaves as it was. */
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { aroundEach, test } from "vitest";
import { refuse } from "../../openai-server/answers.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { run } from "./command-runner.ts";
import { botToken, modelKey, openInitRoom } from "./init-room.ts";

aroundEach(inOwnTest);

test("init writes a short commented configuration, and secrets into files that only their owner reads", async () => {
  const { home, at, text, standIns, platform } = await openInitRoom();
  const [ada = 0] = platform.world.people.keys();
  const { code, out, err } = await run(
    [
      ...["init", "--yes", "--json", ...standIns, "--token-file", at("token"), "--key-file", at("key")],
      ...["--owner", String(ada), "--webhook"],
    ],
    { home },
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    bot: { channel: "botchat", account: "default", username: "e2e_bot", id: "4242" },
    model: { model: "local/small", totalMs: expect.any(Number) },
    owner: { channel: "botchat", senderId: String(ada) },
    webhook: { tokenFile: at(".service/hook-token") },
  });
  const lines = text().split("\n");
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines.filter((line) => line.trim().startsWith("//")).length).toBeGreaterThanOrEqual(5);
  for (const secret of [botToken, modelKey]) expect(out + text()).not.toContain(secret);
  const secrets = ["bot-token", "local-key", "hook-token"];
  expect(secrets.map((name) => statSync(at(`.service/${name}`)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  expect(statSync(at(".service")).mode & 0o777).toBe(0o700);
  const checked = await run(["config", "validate"], { home });
  expect(checked).toMatchObject({ code: 0, out: `${at(".service/config.jsonc")} is valid.\n` });
});

test("an existing file keeps every character but the values asked for, and a second run changes nothing", async () => {
  const { home, at, text, write, platform, server } = await openInitRoom();
  const before = `// mine\n{\n\t"gateway": { "port": 0 }, // any port\n\t"channels": {
\t\t// the stand-in\n\t\t"botchat": {\n\t\t\t"apiRoot": "${platform.url}", /* here */\n\t\t},\n\t},
\t"models": { "providers": { "local": { "api": "openai-compatible", "baseUrl": "${server.url}" } } },\n}\n`;
  write(before);
  const again = () => run(["init", "--yes", "--token-file", at("token"), "--model", "local/small"], { home });
  const first = await again();
  expect(first).toMatchObject({ code: 0, err: "" });
  expect(first.out).toContain('  + \t\t\t"botToken": {\n');
  const added = [
    '\t\t\t"botToken": {\n\t\t\t\t"file": "bot-token"\n\t\t\t},\n\t\t\t"dmPolicy": "pairing",\n',
    '\t"agents": {\n\t\t"defaults": {\n\t\t\t"model": "local/small"\n\t\t}\n\t},\n',
  ];
  expect(added.reduce((all, part) => all.replace(part, ""), text())).toBe(before);
  const after = text();
  const second = await again();
  expect(second.code).toBe(0);
  expect(second.out).not.toContain("Changes of");
  expect([text(), readdirSync(at(".service")).sort()]).toEqual([after, ["bot-token", "config.jsonc"]]);
});

test("secrets of an existing file do not appear among the changes that are shown", async () => {
  const { home, at, write, platform, server } = await openInitRoom();
  const old = "1234:old-token-in-the-file-abcdef";
  write(`{ "gateway": { "port": 0 },
  // "botToken": "99:an-even-older-token-abcdef",
  "channels": { "botchat": { "apiRoot": "${platform.url}", "botToken": "${old}" } },
  "models": { "providers": { "local": { "baseUrl": "${server.url}", "apiKey": "${modelKey}" } } } }`);
  const { code, out } = await run(["init", "--yes", "--token-file", at("token"), "--model", "local/small"], { home });
  expect(code).toBe(0);
  expect(out).toContain('"(set)"');
  for (const secret of [old, "even-older", modelKey, botToken]) expect(out).not.toContain(secret);
});

test("a bot or a model that does not work ends init with 1, and nothing is written", async () => {
  const { home, at, standIns, server } = await openInitRoom();
  writeFileSync(at("wrong"), "4242:not-the-token-of-this-bot\n");
  const bot = await run(["init", "--yes", ...standIns, "--token-file", at("wrong")], { home });
  expect(bot).toMatchObject({ code: 1, out: "" });
  expect(bot.err).toMatch(/^error: --token-file: Telegram refuses it: the platform rejects the bot token/);
  writeFileSync(at("wrong"), "my-token\n");
  const typed = await run(["init", "--yes", ...standIns, "--token-file", at("wrong")], { home });
  expect(typed.err).toMatch(/^error: --token-file: It does not look like a bot token/);
  server.script(refuse(401, "bad key"), refuse(401, "bad key"));
  const model = await run(["init", "--yes", "--json", ...standIns, "--token-file", at("token")], { home });
  expect(model.code).toBe(1);
  expect(JSON.parse(model.out)).toMatchObject({ ok: false, code: "init_unfinished", hint: "Nothing was written." });
  expect(model.out).toContain("local/small");
  expect(existsSync(at(".service/config.jsonc"))).toBe(false);
  expect(existsSync(at(".service/bot-token"))).toBe(false);
});

test("without a terminal, init says which options it needs, and exits with 2", async () => {
  const { home, at } = await openInitRoom();
  const refused = async (...args: readonly string[]) => {
    const { code, err } = await run(["init", ...args], { home });
    return [code, err.split("\n", 1)[0]];
  };
  expect(await refused()).toEqual([2, "error: there is no terminal to ask at: add --yes, and the answers as options."]);
  expect(await refused("--yes")).toEqual([2, "error: nothing to set up: add --token-file, --model or --webhook."]);
  expect(await refused("--yes", "--key-file", at("key"))).toEqual([
    2,
    "error: --key-file and --model-address need --model.",
  ]);
  expect(await refused("--yes", "--webhook", "--owner", "1001")).toEqual([
    2,
    "error: --owner needs a bot: add --token-file.",
  ]);
});
