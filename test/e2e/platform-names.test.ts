/**
 * Telegram is looked for by its name: every place that names it says which channel it is here, and `doctor --fix`
 * writes that.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aroundEach, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { expect, inOwnTest } from "../support/own-test.ts";
import { hookToken, openChannel, openPlatform, postHook, startGatewayProcess } from "./room.ts";

aroundEach(inOwnTest);

const explained = "Telegram is `channels.botchat` here";

const pasted = `{
  // As pasted from elsewhere.
  "channels": { "telegram": { "botToken": "123:abc", "dmPolicy": "pairing" } },
  "agents": { "defaults": { "heartbeat": { "target": "telegram" }, "tools": { "approveAt": "tg:42" } } },
  "bindings": [{ "agentId": "main", "match": { "channel": "telegram" } }],
  "hooks": { "enabled": true, "token": "a-token-of-24-characters", "mappings": [{ "match": { "path": "x" }, "messageTemplate": "x", "channel": "Telegram", "to": "1" }] },
  "schedules": { "morning": { "cron": "0 7 * * *", "kind": "say", "message": "x", "to": "telegram:-100:topic:7" } },
  "cron": { "enabled": true },
  "gateway": { "bind": "loopback" },
  "agent": { "model": "a/b" }
}
`;

const places = [
  "channels.telegram",
  "agents.defaults.heartbeat.target",
  "agents.defaults.tools.approveAt",
  "bindings[0].match.channel",
  "hooks.mappings[0].channel",
  "schedules.morning.to",
];

function write(text: string) {
  const home = temporaryHome();
  const file = join(home, "config.jsonc");
  writeFileSync(file, text);
  return {
    home,
    file,
    on: (...args: readonly string[]) => run([...args, "--config", file, "--state", join(home, "state")], { home }),
  };
}

test("each wrong name in a file is an error with a remedy, foreign keys get a hint; doctor --fix repairs", async () => {
  const { file, on } = write(pasted);
  const found = await on("config", "validate");
  expect(found.code).toBe(1);
  for (const path of places)
    expect(found.out).toMatch(new RegExp(`^error: \\S+ ${path.replace(/[[\]]/g, "\\$&")}: ${explained}\\.`, "m"));
  expect(found.out).not.toContain("no enabled plugin provides");
  for (const [path, hint] of Object.entries({ cron: "schedules", "gateway.bind": "host", agent: "agents.defaults" }))
    expect(found.out).toContain(`${path}: this key is not known. Did you mean ${hint}?`);

  await on("doctor", "--fix");
  const fixed = readFileSync(file, "utf8");
  expect(fixed).not.toMatch(/telegram|"tg:/i);
  expect(fixed).toContain("// As pasted from elsewhere.");
  expect(fixed).toContain('"to": "botchat:-100:topic:7"');
  expect(fixed).toContain('"approveAt": "botchat:42"');
  expect((await on("config", "validate")).out).not.toContain("error:");
});

test("doctor --fix does not overwrite an existing channel", async () => {
  const { file, on } = write('{ "channels": { "telegram": { "botToken": "1:a" }, "botchat": { "botToken": "2:b" } } }');
  expect((await on("doctor", "--fix")).out).toContain("merge the two by hand");
  expect(readFileSync(file, "utf8")).toContain('"telegram": { "botToken": "1:a" }');
});

test.each([
  ["config", "set", "channels.telegram.botToken", "1:abc"],
  ["config", "set", "agents.defaults.heartbeat.target", "telegram"],
  ["message", "send", "--channel", "telegram", "--target", "1", "--message", "x"],
  ["pairing", "list", "telegram"],
  ["why", "--chat", "tg:1"],
  ["events", "drop", "--channel", "Telegram", "--dry-run"],
])("%s %s %s %s is rejected with the correct id", async (...args) => {
  const before = '{ "channels": { "botchat": { "botToken": "1:a" } } }';
  const { file, on } = write(before);
  const refused = await on(...args);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain(explained);
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("a hook request with a platform name gets 400 with the id; a running gateway reports the section", async () => {
  const platform = await openPlatform();
  const gateway = await startGatewayProcess({
    hooks: { enabled: true, token: hookToken },
    channels: { botchat: openChannel(platform), telegram: { botToken: "1:a" } },
  });
  const refused = await postHook(gateway.url, "agent", { message: "x", channel: "telegram", to: "1" });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(await refused.json())).toContain(explained);
  const said = await run(["status", "--config", gateway.file], { home: gateway.home });
  expect(said.out).toContain(explained);
  expect(said.out).toContain(`${programCommand} doctor --fix`);
});
