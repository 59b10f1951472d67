/**
 * A model that does not answer: who answered in its place, and why, is in the reply, in `/status`, in the trace and in
 * doctor.
 */
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";

aroundEach(inOwnTest);

async function open(more: object = {}) {
  const [first, second] = await Promise.all([createOpenAiServer(), createOpenAiServer({ answer: () => say("Here.") })]);
  const host = await createTestHost({
    plugins: [ai],
    allowErrors: [/the next one is used/, /models\.providers\.first\.apiKey/],
    config: {
      agents: { defaults: { model: { primary: "first/a", fallbacks: ["second/b"] } } },
      models: {
        providers: {
          first: { api: "openai-compatible", baseUrl: first.url, ...more },
          second: { api: "openai-compatible", baseUrl: second.url },
        },
      },
      channels: { loopback: { dmPolicy: "open", allowFrom: ["*"], responsePrefix: "{modelFull}:" } },
      plugins: { entries: { ai: { options: { retries: 0 } } } },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await Promise.all([first.close(), second.close()]);
  });
  const command = async (...args: readonly string[]) =>
    await run([...args, "--config", host.configFile], { home: temporaryHome() });
  return { host, first, second, command };
}

test.concurrent("for a used-up quota, the reply, /status, why, status and doctor name both models", async () => {
  const { host, first, second, command } = await open();
  first.script(refuse(429, "You exceeded your current quota, see the plan"));
  const said = async (text: string) => {
    const before = host.outbox().length;
    await host.say(text);
    return host
      .outbox()
      .slice(before)
      .map((one) => one.text);
  };
  for (const text of ["one", "two"]) expect(await said(text)).toEqual(["second/b: Here."]);
  expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
  const why = "second/b answered in place of first/a (model_quota: first at http://127.0.0.1";
  expect((await command("why", "last")).out.replace(/\s+/g, " ")).toContain(why);
  const paused = "(the quota or the budget at the model server is used up, asked again in 10 min)";
  expect((await said("/status"))[0]).toContain(`Model: \`second/b\`, in place of \`first/a\` ${paused}`);
  expect((await command("status")).out).toMatch(/model +main: second\/b answers in place of first\/a: /);
  const { findings } = JSON.parse((await command("doctor", "--json")).out);
  expect(findings.filter(({ check }: { check: string }) => check === "models")).toMatchObject([
    {
      verdict: "warn",
      path: "models.providers.first",
      reason: expect.stringContaining("second/b answers in its place"),
    },
  ]);
  await host.advance(10 * 60_000);
  expect(await said("three")).toEqual([expect.stringMatching(/^first\/a: .* three$/)]);
});

test.concurrent("a provider with an unreadable key does not answer, and /status and the trace report it", async () => {
  const { host } = await open({ apiKey: { env: "NOT_SET" } });
  await host.say("one");
  await host.say("/status");
  const texts = host.outbox().map((one) => one.text);
  expect(texts[0]).toBe("second/b: Here.");
  expect(texts[1]).toContain(
    "Model: `second/b`, in place of `first/a` (the settings of the model's provider are invalid)",
  );
  const [turn] = (await host.say("two")).decisions.filter(({ station }) => station === "turn");
  expect(turn?.detail).toMatch(/second\/b answered in place of first\/a \(model_provider_invalid: .*NOT_SET/);
});

test.concurrent("model properties in the list form of other programs also select the fallback", async () => {
  const { host } = await open({ models: [{ id: "a", contextWindow: 8_000, tools: false }] });
  await host.say("one");
  expect(host.outbox().map((one) => one.text)).toEqual(["second/b: Here."]);
});
