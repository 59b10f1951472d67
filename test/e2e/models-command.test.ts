/** `models list` and `models test`: what is configured, whether it can be asked, and how soon it answers. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { refuse, say } from "../openai-server/answers.ts";
import { createCountingServer } from "../openai-server/counting.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";

aroundEach(inOwnTest);

const secret = "sk-never-shown-1234567890";

async function open(
  { ollama, ...models }: { readonly ollama?: object; readonly [provider: string]: object | undefined },
  agents: object,
) {
  const server = await createOpenAiServer({ answer: () => say("OK", { firstDelayMs: 30 }) });
  const host = await createTestHost({
    plugins: [ai],
    allowErrors: [/has no key/],
    config: {
      agents,
      models: { providers: { ollama: { baseUrl: server.url, ...ollama }, ...models } },
      plugins: { entries: { ai: { options: { retries: 0 } } } },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await server.close();
  });
  const command = async (...args: readonly string[]) =>
    await run([...args, "--config", host.configFile], { home: temporaryHome() });
  return { host, server, command };
}

/** An address where nothing listens. */
async function closedUrl(): Promise<string> {
  const server = await createOpenAiServer();
  await server.close();
  return server.url;
}

test.concurrent("models list names uses, key, context and price of models, and why one cannot be asked", async () => {
  const closed = await closedUrl();
  const { server, command } = await open(
    {
      ollama: { models: { small: { contextTokens: 8_192 } } },
      vendor: { api: "openai", apiKey: secret, baseUrl: closed },
      anthropic: { apiKey: secret, baseUrl: closed },
    },
    {
      defaults: {
        model: { primary: "ollama/small", fallbacks: ["vendor/gpt-4o-mini"] },
        models: { "ollama/small": { alias: "s" }, "groq/fast": {}, "vendor/gpt-4o-mini": {} },
      },
      list: [{ id: "main" }, { id: "writer", model: "ollama/absent" }],
    },
  );
  const { out, err, code } = await command("models", "list", "--json");
  expect({ err, code }).toEqual({ err: "", code: 1 });
  const { models } = JSON.parse(out);
  const of = (model: string) => models.find((one: { model: string }) => one.model === model);
  expect(of("ollama/small")).toMatchObject({
    uses: [
      { agent: "main", as: "primary", alias: "s" },
      { agent: "writer", as: "allowed", alias: "s" },
    ],
    ...{ address: server.url, key: "not needed", server: { reachable: true } },
  });
  expect(of("ollama/small").problem).toBeUndefined();
  expect(of("vendor/gpt-4o-mini")).toMatchObject({
    key: "set",
    server: { reachable: false, detail: "no program listens there" },
    problem: `${closed} is not reachable: no program listens there.`,
  });
  expect(of("groq/fast")).toMatchObject({ key: "missing", problem: expect.stringContaining("set GROQ_API_KEY") });
  expect(of("ollama/absent").problem).toBe(`The server at ${server.url} does not have it; it has small.`);
  expect(out).not.toContain(secret);
  const shown = (await command("models", "list")).out;
  expect(shown).toMatch(/ollama\/small +main primary \(s\), writer allowed \(s\)/);
  expect(shown).toContain(`ollama/absent: The server at ${server.url} does not have it; it has small.`);
});

test.concurrent("models list knows contexts and prices of vendors, and ends with 0 if all can be asked", async () => {
  const { command } = await open(
    {},
    { defaults: { model: "ollama/small", models: ["ollama/small", "openai/gpt-4o-mini"] } },
  );
  const { out, code } = await command("models", "list", "--json");
  const { models } = JSON.parse(out);
  expect(models[1]).toMatchObject({
    model: "openai/gpt-4o-mini",
    contextTokens: 128_000,
    price: { input: 0.15, output: 0.6, source: "genai-prices" },
  });
  // The second one lacks a key, but no agent begins with it.
  expect(code).toBe(0);
});

test.concurrent("models list says how the context of a model is known, and since when", async () => {
  const server = await createCountingServer({ room: 4_096 });
  const local = { api: "openai-compatible", baseUrl: server.url, models: { set: { contextTokens: 8_192 } } };
  const host = await createTestHost({
    plugins: [ai],
    config: {
      agents: {
        defaults: { model: "local/small", models: ["local/small", "local/set", "local/new", "openai/gpt-4o-mini"] },
      },
      models: { providers: { local } },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await server.close();
  });
  const list = async (...args: readonly string[]) =>
    (await run(["models", "list", ...args, "--config", host.configFile], { home: temporaryHome() })).out;
  expect(await list()).toMatch(/local\/small .* 32,000 assumed /);
  await host.say("the quick brown fox ".repeat(2_000));
  expect(server.refused).toHaveLength(1);
  const { models } = JSON.parse(await list("--json"));
  const day = new Date(models[0].contextLearnedAt).toISOString().slice(0, 10);
  expect(models).toMatchObject([
    { contextTokens: 4_096, contextSource: "learned", contextLearnedAt: expect.any(Number) },
    { contextTokens: 8_192, contextSource: "stated" },
    { contextTokens: 32_000, contextSource: "assumed" },
    { contextTokens: 128_000, contextSource: "catalogue" },
  ]);
  expect(await list()).toMatch(new RegExp(`local/small .* 4,096 learned ${day} `));
});

test.concurrent("models test asks each agent's model or the named one, and times the first word", async () => {
  const { server, command } = await open(
    {},
    {
      defaults: { model: "ollama/small", models: { "ollama/small": { alias: "s" } } },
      list: [{ id: "main" }, { id: "writer" }],
    },
  );
  const { out, code } = await command("models", "test", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out).tests).toMatchObject([
    { agent: "main", model: "ollama/small", inputTokens: 11, outputTokens: 7 },
    { agent: "writer", model: "ollama/small" },
  ]);
  expect(JSON.parse(out).tests[0].firstWordMs).toBeGreaterThanOrEqual(30);
  const named = await command("models", "test", "S", "--agent", "writer");
  expect(named.out).toMatch(
    /^✓ ollama\/small \(writer\): the first word after 0\.\d\d s, complete after .*, 11 tokens in/,
  );
  expect(server.requests.map(({ body }) => body.tools)).toEqual([undefined, undefined, undefined]);
  const usage = await command("usage", "--by", "purpose", "--json");
  expect(JSON.parse(usage.out).usage).toMatchObject([{ purpose: "test", calls: 3 }]);
});

test.concurrent("models test says why a model does not answer, without the key, and ends with 1", async () => {
  const { server, command } = await open({}, { defaults: { model: "ollama/small" } });
  server.script(refuse(401, `no such key: ${secret}`));
  const failed = await command("models", "test");
  expect(failed.code).toBe(1);
  expect(failed.out).toContain("✗ ollama/small (main): ollama at http://127.0.0.1");
  expect(failed.out).toContain("(model_unauthorized)");
  expect(failed.out).not.toContain(secret);
  const unknown = await command("models", "test", "nothing", "--json");
  expect({ code: unknown.code, tests: JSON.parse(unknown.out).tests }).toMatchObject({
    code: 1,
    tests: [{ model: "nothing", error: { code: "model_unknown" } }],
  });
  const missing = await command("models", "test", "groq/fast", "--json");
  expect(JSON.parse(missing.out).tests[0].error.reason).toContain("The provider groq has no key: set GROQ_API_KEY");
  expect((await command("models", "test", "--agent", "nobody")).code).toBe(2);
});

test.concurrent("models test needs no gateway: a key is tried before the first start", async () => {
  const server = await createOpenAiServer({ answer: () => say("OK", { firstDelayMs: 30 }) });
  onTestFinished(() => server.close());
  server.requireKey(secret);
  const home = temporaryHome();
  mkdirSync(join(home, ".service"));
  const config = {
    agents: { defaults: { model: "groq/fast" } },
    models: { providers: { groq: { baseUrl: server.url } } },
    channels: { botchat: { botToken: "1:not-to-be-used" } },
  };
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config));
  const command = async (key: string, ...args: readonly string[]) =>
    await run(args, { home, env: { GROQ_API_KEY: key } });
  const wrong = await command("gsk_wrong_1234567890", "models", "test");
  expect({ code: wrong.code, err: wrong.err }).toEqual({ code: 1, err: "Asking the model of main ...\n" });
  expect(wrong.out).toContain("(model_unauthorized). Check GROQ_API_KEY in the environment");
  expect(`${wrong.out}${wrong.err}`).not.toContain("gsk_wrong");
  writeFileSync(join(home, ".service", "odd.jsonc"), JSON.stringify({ agents: { defaults: { model: "fast" } } }));
  const odd = await command("", "models", "test", "--config", join(home, ".service", "odd.jsonc"));
  expect({ code: odd.code, out: odd.out }).toEqual({
    code: 1,
    out: expect.stringContaining("The model fast is not configured (model_unknown). Write it as provider/model"),
  });
  const right = await command(secret, "models", "test", "--json");
  expect({ code: right.code, err: right.err, tests: JSON.parse(right.out).tests }).toMatchObject({
    ...{ code: 0, err: "" },
    tests: [{ agent: "main", model: "groq/fast", inputTokens: 11, outputTokens: 7 }],
  });
  expect(JSON.parse(right.out).tests[0].firstWordMs).toBeGreaterThanOrEqual(30);
  const usage = await command(secret, "usage", "--by", "purpose", "--json");
  expect(JSON.parse(usage.out).usage).toMatchObject([{ purpose: "test", calls: 1 }]);
});
