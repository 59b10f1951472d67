/** A model, a token and a key in the environment are a whole configuration: each provider that is known by name. */
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import { knownProvider, knownProviderIds } from "../../core/config/known-providers.ts";
import ai from "../../plugins/ai/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { anthropic } from "../vendor-servers/anthropic.ts";
import { chatAt } from "../vendor-servers/chat.ts";
import { createVendorServer, say } from "../vendor-servers/index.ts";
import { answersByName, interceptProviders } from "./known-model-servers.ts";

aroundEach(inOwnTest);
interceptProviders();

const key = "sk-of-the-environment-1234567890";

async function open(config: object, environment: Readonly<Record<string, string>> = {}) {
  const host = await createTestHost({
    plugins: [ai],
    environment,
    allowErrors: [/has no key/],
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } }, ...config },
  });
  onTestFinished(() => host.close());
  const command = async (...args: readonly string[]) =>
    await run([...args, "--config", host.configFile], { home: temporaryHome() });
  return { host, command };
}

const lastText = (host: Awaited<ReturnType<typeof open>>["host"]) => host.outbox().at(-1)?.text;

test.concurrent.each(knownProviderIds)("a model of %s and its key in the environment answer, also with tools", (id) =>
  answersByName(id, { byChat: false }),
);

test.concurrent("without its key, the log, why and doctor name the variable and the setting", async () => {
  const { host, command } = await open({ agents: { defaults: { model: "groq/fast" } } });
  await host.say("hello");
  const sentence =
    "The provider groq has no key: set GROQ_API_KEY in the environment of the gateway, or models.providers.groq.apiKey";
  expect((await command("why", "last")).out.replace(/\s+/g, " ")).toContain(sentence);
  const shown = "needs a key for groq, and there is none in GROQ_API_KEY or models.providers.groq";
  for (const line of [["config", "validate"], ["doctor"], ["logs"]]) {
    const { out, err } = await command(...line);
    expect(`${out}${err}`.replace(/\s+/g, " ")).toContain(shown);
  }
  expect((await command("logs")).out.replace(/\s+/g, " ")).toContain(sentence);
});

test.concurrent("a model whose key is missing is passed over for one of this machine", async () => {
  const server = await createVendorServer(chatAt("http://127.0.0.1/v1", { needsKey: false }), { model: "any", key });
  onTestFinished(() => server.close());
  const { host } = await open({
    agents: { defaults: { model: { primary: "groq/fast", fallbacks: ["ollama/small"] } } },
    models: { providers: { ollama: { baseUrl: `${server.url}/v1` } } },
  });
  server.script(say({ text: "From here." }));
  await host.say("hello");
  expect(lastText(host)).toBe("From here.");
});

test.concurrent.each(["anthropic", "groq"])("a key that %s refuses and repeats is nowhere to be read", async (id) => {
  const { address = "", keyVariable = "" } = knownProvider(id) ?? {};
  const protocol = id === "anthropic" ? anthropic : chatAt(address, { needsKey: true });
  const server = await createVendorServer(protocol, { model: "any", key: "another" });
  onTestFinished(() => server.close());
  const { host, command } = await open(
    {
      agents: { defaults: { model: `${id}/any` } },
      models: { providers: { [id]: { baseUrl: `${server.url}${new URL(address).pathname}` } } },
    },
    { [keyVariable]: key },
  );
  await host.say("hello");
  const why = await command("why", "last", "--json");
  const logs = await command("logs", "--json");
  expect(why.out).toContain("model_unauthorized");
  expect(why.out).toContain(`Check ${keyVariable} in the environment of the gateway`);
  expect(`${JSON.stringify(host.outbox())}${why.out}${logs.out}`).not.toContain(key);
});
