/** Names of a configuration in command lines: a misspelled one is mentioned, because it may be one that was removed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const config = {
  state: { dir: "state" },
  channels: { botchat: { botToken: "1:a" } },
  hooks: {
    enabled: true,
    token: "hook-token-0123456789",
    mappings: [{ match: { path: "github" }, messageTemplate: "{{ a }}" }],
  },
};

test.each([
  [["pairing", "list", "botcaht"], "There is no channel botcaht. Did you mean botchat?"],
  [["events", "drop", "--channel", "botcaht", "--dry-run"], "There is no channel botcaht. Did you mean botchat?"],
  [["events", "list", "--chat", "botcaht:1"], "There is no channel botcaht. Did you mean botchat?"],
  [["privacy", "erase", "botcaht:1", "--dry-run"], "There is no channel botcaht. Did you mean botchat?"],
  [["hooks", "test", "githbu", "delivery.json"], "No mapping has the name githbu. Did you mean github?"],
])("a similar name is suggested: %j", async (words, suggestion) => {
  const home = temporaryHome();
  writeFileSync(join(home, "config.jsonc"), JSON.stringify(config), { mode: 0o600 });
  writeFileSync(join(home, "delivery.json"), '{ "a": 1 }');
  const args = words.map((word) => (word === "delivery.json" ? join(home, word) : word));
  const { err } = await run([...args, "--config", join(home, "config.jsonc")], { home });
  expect(err.split("\n").filter((line) => line === suggestion)).toEqual([suggestion]);
});
