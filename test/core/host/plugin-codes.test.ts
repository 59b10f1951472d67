/** Codes that a plugin registers: checked before it runs, and known to `why`, which loads no plugin. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";
import { definePlugin, type PluginDefinition } from "../../../core/sdk/contract.ts";
import { run } from "../cli/command-runner.ts";

/** What a command of the program prints beside the gateway. */
const told = async ({ configFile, directory }: TestHost, ...args: readonly string[]) =>
  (await run([...args, "--config", configFile], { home: directory })).out;

const logOf = ({ directory }: TestHost) => readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8");

const strict = (codes: object): PluginDefinition =>
  definePlugin({
    id: "strict",
    version: "1.0.0",
    host: "^0.2.0",
    codes: codes as NonNullable<PluginDefinition["codes"]>,
    setup(host) {
      host.tap("gating", ({ text }) =>
        text.length > 10 ? { code: text.length > 20 ? "rule_7" : "too_wordy" } : undefined,
      );
    },
  });

const codes = {
  too_wordy: {
    meaning: "The message has more than ten letters.",
    hint: "Write less; see `{command} events list`.",
    outcome: "refused",
  },
  "rule_*": { meaning: "A rule of the house was broken.", hint: "Read the rules.", outcome: "refused" },
};

test("why explains a plugin's decision with the plugin's own codes", async () => {
  await using host = await createTestHost({ plugins: [strict(codes)] });
  await host.say("more than ten");
  const wordy = await told(host, "why", "last");
  expect(wordy).toMatch(/^refused \(too_wordy\)/);
  expect(wordy).toContain("too_wordy by strict");
  expect(wordy).toContain("The message has more than ten letters.");
  expect(wordy).toMatch(/to change +Write less; see `.*events list`\./);
  await host.say("this one has more than twenty");
  const broken = await told(host, "why", "last");
  expect(broken).toMatch(/^refused \(rule_7\)/);
  expect(broken).toContain("A rule of the house was broken.");
  expect(logOf(host)).not.toContain("invalid");
});

test("a plugin cannot redefine a gateway code, and the log gives the same explanation as why", async () => {
  const loud = { meaning: "Loud words.", hint: "Louder ones." };
  const plugins = [
    definePlugin({
      id: "loud",
      version: "1.0.0",
      host: "^0.2.0",
      codes: { dm_disabled: loud, "dm_*": loud },
      setup() {},
    }),
    definePlugin({
      id: "quiet",
      version: "1.0.0",
      host: "^0.2.0",
      setup: (host) => host.tap("gating", () => ({ code: "dm_disabled" })),
    }),
  ];
  await using host = await createTestHost({ plugins, config: { log: { level: "info" } } });
  await host.say("hello");
  const why = await told(host, "why", "last");
  expect(why).toMatch(/^refused \(dm_disabled\)/);
  expect(why).toContain("Direct messages are switched off for this account.");
  expect(why).not.toMatch(/loud/i);
  await expect.poll(() => logOf(host)).toContain('"detail":"Direct messages are switched off for this account."');
  expect(logOf(host)).not.toContain("Loud");
});

test("hooks show explains a delivery in the same way as why", async () => {
  await using host = await createTestHost({ answer: () => "NO_REPLY" });
  const { ended } = await host.deliver("agent", { message: "Say nothing." });
  const [{ eventId } = { eventId: "" }] = ended;
  expect(await told(host, "why", eventId)).toMatch(/^silent \(no_reply\)/);
  for (const command of [["why"], ["hooks", "show"]])
    expect(await told(host, ...command, eventId)).toContain("The agent chose not to reply.");
});

test.each([
  [
    { "Too Wordy": codes.too_wordy },
    "the name of its code Too Wordy must be a to z, 0 to 9 and _, beginning with a letter",
  ],
  [
    { too_wordy: { meaning: "", hint: "" } },
    "its code too_wordy needs a meaning and a hint, both texts; the hint may be empty",
  ],
  [
    { too_wordy: { meaning: "It is long." } },
    "its code too_wordy needs a meaning and a hint, both texts; the hint may be empty",
  ],
  [{ too_wordy: null }, "its code too_wordy needs a meaning and a hint, both texts; the hint may be empty"],
  [
    { too_wordy: { ...codes.too_wordy, outcome: "lost" } },
    "the outcome of its code too_wordy must be answered, silent, refused or failed",
  ],
])("codes declared as %j are rejected before any code of the plugin runs, with the reason", (wrong, reason) => {
  expect(() => checkDeclaration("strict", strict(wrong))).toThrow(
    `The declaration of the plugin strict is invalid: ${reason}.`,
  );
});
