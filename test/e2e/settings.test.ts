/** Settings that mean what they say: limits of the past, of messages and of lists. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { converse, kitchen } from "./conversation.ts";

test("historyLimit 0 drops context around a conversation, not the conversation; historyTurns limits it", async () => {
  const place = await converse({
    channel: { historyLimit: 0, groups: { "*": { requireMention: true } } },
    config: { agents: { defaults: { historyTurns: 2 } } },
  });
  await place.start();
  const say = (text: string) => place.platform.act.say(place.ada, kitchen, text);
  say("among us");
  for (const [index, word] of ["one", "two", "three", "four"].entries()) {
    say(`@e2e_bot ${word}`);
    await place.ended(index + 2);
  }
  const read = (turn: number) =>
    place.turns[turn]?.messages.map(({ text }) => /(?:one|two|three|four|answer \d|among us)/.exec(text)?.[0]) ?? [];
  expect(read(0)).toEqual(["one"]);
  expect(read(1)).toEqual(["one", "answer 1", "two"]);
  expect(read(3)).toEqual(["two", "answer 2", "three", "answer 3", "four"]);
});

test("a limit that is too high, empty list items and a list that admits everyone only cause warnings", async () => {
  const home = temporaryHome();
  const file = join(home, "config.jsonc");
  writeFileSync(
    file,
    JSON.stringify({
      hooks: { enabled: true, token: "a-long-enough-hook-token-123", allowedAgentIds: ["", "main"] },
      commands: { ownerAllowFrom: ["", "7"] },
      channels: {
        botchat: {
          botToken: "42:abc",
          proxy: "socks4://127.0.0.1:1080",
          textChunkLimit: 5000,
          allowFrom: ["7", ""],
          groups: {
            "*": { groupPolicy: "open" },
            "-1": { allowFrom: ["7"] },
            "-2": {
              groupPolicy: "allowlist",
              allowFrom: ["7"],
              topics: { "3": { groupPolicy: "open", allowFrom: ["7"] } },
            },
          },
        },
      },
    }),
  );
  const { code, out } = await run(["config", "validate", "--json", "--config", file], { home });
  const { problems } = JSON.parse(out) as { problems: { path: string; severity: string; message: string }[] };
  expect(problems.map(({ severity, path, message }) => `${severity} ${path}: ${message}`).sort()).toEqual([
    "warning channels.botchat.allowFrom[1]: is empty and is ignored",
    'warning channels.botchat.groups.-1.allowFrom: keeps nobody out, because groupPolicy is "open" here',
    'warning channels.botchat.groups.-2.topics.3.allowFrom: keeps nobody out, because groupPolicy is "open" here',
    "warning channels.botchat.textChunkLimit: is 5000, and the platform takes at most 4096 in one message: " +
      "4096 is used",
    "warning commands.ownerAllowFrom[0]: is empty and is ignored",
    "warning hooks.allowedAgentIds[0]: is empty and is ignored",
  ]);
  expect(code).toBe(0);
});

test("a textChunkLimit above the platform's limit sends messages of 4096 characters", async () => {
  const place = await converse({ channel: { textChunkLimit: 9_000 }, answer: () => "word ".repeat(1_500) });
  await place.start();
  place.platform.act.say(place.ada, place.ada, "long");
  expect(await place.ended(1)).toEqual(["answered answered"]);
  const lengths = place.messages(place.ada).map(({ text }) => text?.length ?? 0);
  expect(lengths).toHaveLength(2);
  expect(Math.max(...lengths)).toBeGreaterThan(4_000);
});
