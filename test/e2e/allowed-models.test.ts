import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { closeHookGateways, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const providers = { local: { api: "openai-compatible", baseUrl: "http://127.0.0.1:9" } };

/** One gateway for each case would be slow: each agent has a list of its own. */
const room = await startHookGateway({
  hooks: {
    mappings: [{ match: { path: "strict" }, agentId: "{{ who }}", model: "local/large", messageTemplate: "x" }],
  },
  config: {
    commands: { config: true, ownerAllowFrom: ["7"] },
    models: { providers },
    bindings: [{ agentId: "closed", match: { channel: "loopback", peer: { kind: "direct", id: "8" } } }],
    agents: {
      defaults: {
        engine: "test-engine",
        heartbeat: { every: "0" },
        models: { "local/small": { alias: "fast" }, "local/large": {}, nonsense: {} },
      },
      list: [
        { id: "main", model: "own/choice" },
        { id: "own", models: ["local/own"] },
        { id: "closed", models: [] },
        { id: "broken", models: "local/small" },
      ],
    },
  },
  allowErrors: [/agents\.list\[3\]\.models/],
});

const agent = async (agentId: string, model: string) => {
  const { status, json } = await room.post("agent", { message: "x", deliver: false, agentId, model });
  return status === 202 ? "202" : `${status} ${json?.code}`;
};

describe("allowed models of webhooks", () => {
  test.each([
    ["main", "local/small", "202"],
    ["main", "FAST", "202"],
    ["main", "local/own", "400 model_not_allowed"],
    // The operator's own choice is the default; nobody else may ask for it by name.
    ["main", "own/choice", "400 model_not_allowed"],
    ["main", "nonsense", "400 model_not_allowed"],
    ["own", "local/own", "202"],
    ["own", "local/small", "400 model_not_allowed"],
    ["own", "fast", "400 model_not_allowed"],
    ["closed", "local/small", "400 model_not_allowed"],
    ["broken", "local/small", "400 model_not_allowed"],
    // An unknown agent is the default agent.
    ["unknown", "local/large", "202"],
  ])("a request for the agent %s with the model %s returns %s", async (agentId, model, expected) => {
    expect(await agent(agentId, model)).toBe(expected);
  });

  test("an agent named by a template uses its own list", async () => {
    expect((await room.post("strict", { who: "main" })).status).toBe(202);
    expect((await room.post("strict", { who: "own" })).json).toMatchObject({ code: "model_not_allowed" });
  });

  test("a name that is neither an alias nor provider/model gets an error that says so", async () => {
    const { json } = await room.post("agent", { message: "x", model: "gpt" });
    expect(json).toMatchObject({
      code: "model_not_allowed",
      error: expect.stringContaining("neither an alias nor of the form provider/model"),
    });
  });
});

test("without a list, every full name is allowed, but no name in another form", async () => {
  const open = await startHookGateway({ config: { agents: { defaults: { heartbeat: { every: "0" } } } } });
  expect((await open.post("agent", { message: "x", model: "any/model" })).status).toBe(202);
  expect((await open.post("agent", { message: "x", model: "gpt" })).json?.code).toBe("model_not_allowed");
});

test("chats and webhooks cannot choose a provider that the configuration does not use", async () => {
  const agents = { defaults: { engine: "test-engine", heartbeat: { every: "0" } } };
  const open = await startHookGateway({
    hooks: { mappings: [{ match: { path: "free" }, model: "{{ model }}", messageTemplate: "x" }] },
    config: { agents },
  });
  // Requests would go to whatever listens there, or be paid with a key that is in the environment for another program.
  for (const model of ["llamacpp/x", "openai/gpt-5"]) {
    expect((await open.post("agent", { message: "x", model })).json?.code).toBe("model_not_allowed");
    expect((await open.post("free", { model })).status).toBe(400);
    await open.host.say(`/model ${model}`, { from: "guest" });
    expect(open.host.outbox().at(-1)?.text).toContain("The configuration uses no model of");
  }
  const fallbacks = ["openai/gpt-5-mini"];
  const using = await startHookGateway({
    hooks: { mappings: [{ match: { path: "set" }, model: "mistral/small", messageTemplate: "x" }] },
    config: {
      models: { providers: { llamacpp: {} } },
      agents: { defaults: { ...agents.defaults, model: { primary: "own/one", fallbacks } } },
    },
  });
  for (const model of ["llamacpp/x", "openai/gpt-5", "mistral/large"])
    expect((await using.post("agent", { message: "x", model })).status).toBe(202);
  expect((await using.post("set", {})).status).toBe(202);
  expect((await using.post("agent", { message: "x", model: "groq/any" })).json?.code).toBe("model_not_allowed");
});

test("an invalid agents.defaults allows no model either", async () => {
  const broken = await startHookGateway({
    config: { agents: { defaults: 5, list: [{ id: "main", engine: "test-engine" }] } },
    allowErrors: [/agents/],
  });
  expect((await broken.post("agent", { message: "x", model: "local/small" })).json?.code).toBe("model_not_allowed");
});

describe("allowed models of chats", () => {
  const say = async (text: string, sender = "7") => {
    await room.host.say(text, { from: sender });
    return room.host.outbox().at(-1)?.text ?? "";
  };
  const modelInFile = () => JSON.parse(readFileSync(room.host.configFile, "utf8")).agents.defaults.model;

  test("/model accepts the models in the agent's list, and none if the list is empty", async () => {
    expect(await say("/model fast")).toContain("`local/small`");
    expect(await say("/model local/own")).toContain("The model is unknown");
    expect(await say("/model local/small", "8")).toContain("The model is unknown");
  });

  test("/config set agents.defaults.model follows the same list, also for fallbacks", async () => {
    expect(await say("/config set agents.defaults.model local/other")).toContain(
      '"local/other", which is not an allowed model',
    );
    expect(await say("/config set agents.defaults.model nonsense")).toContain("not an allowed model");
    expect(await say('/config set agents.defaults.model {"primary":"fast","fallbacks":["local/other"]}')).toContain(
      "fallbacks\\[0\\]",
    );
    expect(await say("/config set agents.list[1].model local/small")).toContain("not an allowed model");
    expect(modelInFile()).toBeUndefined();
    expect(await say("/config set agents.defaults.model local/large")).toContain("is set");
    expect(modelInFile()).toBe("local/large");
    expect(await say("/config set agents.defaults.models []")).toContain("cannot be changed from a chat");
  });
});
