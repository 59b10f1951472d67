/** Codes that a plugin registers: checked before it runs, and known to `why`, which loads no plugin. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";
import { definePlugin, type PluginDefinition } from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, startGateway, type TestGateway } from "../../support/gateway.ts";
import { run } from "../cli/command-runner.ts";

let running: TestGateway | undefined;

afterEach(async () => {
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

const strict = (codes: object): PluginDefinition =>
  definePlugin({
    id: "strict",
    version: "1.0.0",
    host: "^0.1.0",
    codes: codes as NonNullable<PluginDefinition["codes"]>,
    setup(host) {
      host.tap("gating", ({ text }) => (text.length > 10 ? { code: text.length > 20 ? "rule_7" : "too_wordy" } : undefined));
    },
  });

const codes = {
  too_wordy: { meaning: "The message has more than ten letters.", hint: "Write less; see `{command} events list`.", outcome: "refused" },
  "rule_*": { meaning: "A rule of the house was broken.", hint: "Read the rules.", outcome: "refused" },
};

test("why explains a decision of a plugin by the plugin's own codes", async () => {
  const loopback = createLoopback();
  running = await startGateway({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } },
    plugins: [loopback.plugin, strict(codes)],
  });
  const { gateway, directory } = running;
  const why = async () => (await run(["why", "last", "--state", gateway.stateDirectory], { home: directory })).out;
  await loopback.say("more than ten");
  await expect.poll(why, { timeout: 10_000 }).toMatch(/^refused \(too_wordy\)/);
  const told = await why();
  expect(told).toContain("too_wordy by strict");
  expect(told).toContain("The message has more than ten letters.");
  expect(told).toMatch(/to change +Write less; see `.*events list`\./);
  await loopback.say("this one has more than twenty");
  await expect.poll(why, { timeout: 10_000 }).toMatch(/^refused \(rule_7\)/);
  expect(await why()).toContain("A rule of the house was broken.");
  expect(readFileSync(join(gateway.stateDirectory, "logs", "gateway.log"), "utf8")).not.toContain("invalid");
});

test("no other plugin changes what a code of the gateway means; the log says the same as why", async () => {
  const loopback = createLoopback();
  const loud = { meaning: "Loud words.", hint: "Louder ones." };
  running = await startGateway({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } },
    plugins: [
      loopback.plugin,
      definePlugin({ id: "loud", version: "1.0.0", host: "^0.1.0", codes: { dm_disabled: loud, "dm_*": loud }, setup() {} }),
      definePlugin({
        id: "quiet",
        version: "1.0.0",
        host: "^0.1.0",
        setup: (host) => host.tap("gating", () => ({ code: "dm_disabled" })),
      }),
    ],
  });
  const { gateway, directory } = running;
  await loopback.say("hello");
  const why = async () => (await run(["why", "last", "--state", gateway.stateDirectory], { home: directory })).out;
  await expect.poll(why, { timeout: 10_000 }).toMatch(/^refused \(dm_disabled\)/);
  const told = await why();
  expect(told).toContain("Direct messages are switched off for this account.");
  expect(told).not.toMatch(/loud/i);
  const log = readFileSync(join(gateway.stateDirectory, "logs", "gateway.log"), "utf8");
  expect(log).toContain('"detail":"Direct messages are switched off for this account."');
  expect(log).not.toContain("Loud");
});

test("hooks show explains a delivery as why does", async () => {
  const token = "codes-hook-token-0123456789";
  running = await startGateway({ config: { hooks: { enabled: true, token } }, plugins: [createEngine(() => "NO_REPLY")] });
  const { gateway, directory } = running;
  const answer = await fetch(`${gateway.url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "Say nothing." }),
  });
  const { runId } = (await answer.json()) as { readonly runId: string };
  const told = async (...args: readonly string[]) =>
    (await run([...args, runId, "--state", gateway.stateDirectory], { home: directory })).out;
  await expect.poll(() => told("why"), { timeout: 10_000 }).toMatch(/^silent \(no_reply\)/);
  for (const command of [["why"], ["hooks", "show"]]) expect(await told(...command)).toContain("The agent chose not to reply.");
});

test.each([
  [{ "Too Wordy": codes.too_wordy }, "the name of its code Too Wordy must be a to z, 0 to 9 and _, beginning with a letter"],
  [{ too_wordy: { meaning: "", hint: "" } }, "its code too_wordy needs a meaning and a hint, both texts"],
  [{ too_wordy: { meaning: "It is long." } }, "its code too_wordy needs a meaning and a hint, both texts"],
  [{ too_wordy: null }, "its code too_wordy needs a meaning and a hint, both texts"],
  [{ too_wordy: { ...codes.too_wordy, outcome: "lost" } }, "the outcome of its code too_wordy must be answered, silent, refused or failed"],
])("codes declared as %j are refused before anything of the plugin runs, with the reason", (wrong, reason) => {
  expect(() => checkDeclaration("strict", strict(wrong))).toThrow(`The declaration of the plugin strict is invalid: ${reason}.`);
});
