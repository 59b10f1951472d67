import { describe, expect, test } from "vitest";
import { knownProvider, knownProviderIds } from "../../../core/config/known-providers.ts";
import { providerSettings } from "../../../core/config/model-providers.ts";
import { errorsOf, load } from "./fixture.ts";

test("the providers known by name are those of the manual", () => {
  const vendors = ["anthropic", "openai", "google", "openrouter", "mistral", "groq", "deepseek", "xai", "together"];
  expect(knownProviderIds).toEqual([...vendors, "fireworks", "cerebras", "ollama", "lmstudio", "llamacpp", "vllm"]);
  expect(knownProvider("constructor")).toBeUndefined();
});

/** As the makers' own pages name them; copied by hand, so that a slip in the table is noticed. */
test.each([
  ["anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"],
  ["openai", "https://api.openai.com/v1", "OPENAI_API_KEY"],
  ["google", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"],
  ["openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"],
  ["mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"],
  ["groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"],
  ["deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY"],
  ["xai", "https://api.x.ai/v1", "XAI_API_KEY"],
  ["together", "https://api.together.ai/v1", "TOGETHER_API_KEY"],
  ["fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"],
  ["cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"],
  ["ollama", "http://127.0.0.1:11434/v1", undefined],
  ["lmstudio", "http://127.0.0.1:1234/v1", undefined],
  ["llamacpp", "http://127.0.0.1:8080/v1", undefined],
  ["vllm", "http://127.0.0.1:8000/v1", undefined],
])("%s is at %s, with the key in %s", (id, address, keyVariable) => {
  expect(knownProvider(id)).toMatchObject({ address, ...(keyVariable === undefined ? {} : { keyVariable }) });
  expect(knownProvider(id)?.keyVariable).toBe(keyVariable);
});

describe("the settings of a provider", () => {
  const of = (own: object | undefined, id = "groq") =>
    providerSettings({ models: { providers: own === undefined ? {} : { [id]: own } } }, id);

  test("are those known of its name where nothing is configured", () => {
    const address = "https://api.groq.com/openai/v1";
    expect(of(undefined)).toMatchObject({
      ...{ api: "openai-compatible", address, keyVariable: "GROQ_API_KEY", needsKey: true },
    });
    expect(providerSettings({}, "nobody")).toBeUndefined();
  });

  test("keep what is known beside what is configured", () => {
    const own = { models: { small: { tools: false } } };
    expect(of(own)).toMatchObject({ ...own, keyVariable: "GROQ_API_KEY", needsKey: true });
    const other = { baseUrl: "http://127.0.0.1:9/v1" };
    expect(of(other)).toMatchObject({ address: other.baseUrl, keyVariable: "GROQ_API_KEY", needsKey: false });
  });

  test("with api and baseUrl are the operator's own: no key of the environment is sent there", () => {
    const own = { api: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" };
    expect(of(own)).toMatchObject({ address: own.baseUrl, keyVariable: undefined, needsKey: false });
    expect(of({ api: "anthropic" })).toMatchObject({
      ...{ api: "anthropic", address: "https://api.anthropic.com/v1", keyVariable: undefined },
    });
  });
});

describe("a configuration of one model", () => {
  const model = (name: string, more: object = {}) => ({ agents: { defaults: { model: name } }, ...more });
  const problems = async (content: object, env: Readonly<Record<string, string>> = {}) =>
    (await load(content, env)).problems.map(({ severity, path, message, hint }) => ({ severity, path, message, hint }));

  test("is complete with the key in the environment or the file, and without one for a local server", async () => {
    expect(await problems(model("anthropic/large"), { ANTHROPIC_API_KEY: "sk-1" })).toEqual([]);
    const models = { providers: { anthropic: { apiKey: "sk-1" } } };
    expect(await problems(model("anthropic/large", { models }))).toEqual([]);
    expect(await problems(model("ollama/llama3.2"))).toEqual([]);
  });

  test("without the key is a warning that names the variable and the path", async () => {
    const message = "needs a key for groq, and there is none in GROQ_API_KEY or models.providers.groq";
    const hint = "Set GROQ_API_KEY in the environment, or models.providers.groq.apiKey.";
    expect(await problems(model("groq/fast"))).toEqual([
      { severity: "warning", path: "agents.defaults.model", hint, message: `is "groq/fast", which ${message}` },
    ]);
    const models = { providers: { groq: { models: { fast: { tools: false } } } } };
    expect(await problems(model("groq/fast", { models }), { GROQ_API_KEY: " " })).toEqual([
      { severity: "warning", path: "models.providers.groq", hint, message },
    ]);
  });

  test("with a misspelt name suggests the known one", async () => {
    expect(await problems(model("antropic/large"))).toMatchObject([{ hint: "Did you mean anthropic?" }]);
  });

  test("with a provider of one's own needs an address", async () => {
    const models = { providers: { lab: {} } };
    const loaded = await load(model("lab/small", { models }));
    expect(errorsOf(loaded)).toEqual([]);
    expect(loaded.problems).toMatchObject([
      { path: "models.providers.lab", message: "has no baseUrl, and no provider is known by this name" },
    ]);
    const own = { providers: { lab: { baseUrl: "http://127.0.0.1:9/v1" } } };
    expect(await problems(model("lab/small", { models: own }))).toEqual([]);
  });
});
