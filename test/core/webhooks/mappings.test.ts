import { describe, expect, test } from "vitest";
import { checkConfig } from "../../../core/config/reading/load.ts";
import { HostError } from "../../../core/contract/errors.ts";
import type { PresetDefinition } from "../../../core/sdk/contract.ts";
import { compileMappings } from "../../../core/webhooks/mapping/compile-mappings.ts";
import type { MappingTable } from "../../../core/webhooks/mapping/compiled-mapping.ts";

const uptime: PresetDefinition = {
  id: "uptime",
  path: "uptime",
  mappings: [{ name: "Uptime", messageTemplate: "{{ monitor }}" }],
};
const signature = { scheme: "github", secret: "a signing secret" };
const at = (path: string, more: object = {}) => ({ match: { path }, messageTemplate: "{{ text }}", ...more });

/** What is compiled of a file with these hooks. */
function compile(hooks: object): MappingTable {
  const text = JSON.stringify({ hooks: { enabled: true, token: "hook-token-of-the-test", ...hooks } });
  const { config, problems } = checkConfig({ text, file: "/config.json", env: {} });
  return compileMappings({
    hooks: config.hooks,
    problems,
    presets: new Map([["uptime", uptime]]),
    agents: { exists: (id) => ["main", "ops"].includes(id), defaultId: () => "main" },
    models: { allowed: (model) => model === "local/small" },
    channels: {
      known: (id) => ["slack", "chat"].includes(id),
      available: (id) => id === "chat",
      list: () => ["chat"],
      meant: () => undefined,
      platformProblem: () => undefined,
    },
    secret(value, path) {
      if (typeof value === "string") return value;
      throw new HostError("secret_unavailable", { path, reason: "the environment variable NOPE is not set" });
    },
    checkTransform(module) {
      if (module.includes("..")) return { message: `is "${module}", which must not contain ".."`, missing: false };
      return module === "missing.ts" ? { message: "does not exist", missing: true } : undefined;
    },
  });
}

const told = ({ problems }: MappingTable) =>
  problems.map(({ severity, path, message }) => `${severity} ${path} ${message}`);

describe("a mapping with an error is reported by its path and still takes its requests", () => {
  test.each<[rule: string, hooks: object, path: string, words: string]>([
    [
      "a template that does not parse",
      { mappings: [at("a", { messageTemplate: "{{ x" })] },
      "hooks.mappings[0].messageTemplate",
      "never closed",
    ],
    [
      "a pattern that cannot be run",
      { mappings: [at("a", { match: { path: "a", where: { x: { matches: "(" } } } })] },
      "hooks.mappings[0].match.where.x.matches",
      "",
    ],
    [
      "an invalid payload path",
      { mappings: [at("a", { match: { path: "a", where: { "x..y": 1 } } })] },
      'hooks.mappings[0].match.where["x..y"]',
      "",
    ],
    [
      "a list that is not a path",
      { mappings: [at("a", { forEach: "a..b" })] },
      "hooks.mappings[0].forEach",
      "name is missing",
    ],
    ["a path of an endpoint", { mappings: [at("/wake/")] }, "hooks.mappings[0].match.path", "endpoint of its own"],
    [
      "a path below the results of runs",
      { mappings: [at("runs/x")] },
      "hooks.mappings[0].match.path",
      "endpoint of its own",
    ],
    [
      "nothing to say to the agent",
      { mappings: [{ match: { path: "a" } }] },
      "hooks.mappings[0].messageTemplate",
      "action agent needs it",
    ],
    [
      "nothing to say in a wake",
      { mappings: [at("a", { action: "wake" })] },
      "hooks.mappings[0].textTemplate",
      "action wake needs it",
    ],
    [
      "deliverOnly of a wake",
      { mappings: [at("a", { action: "wake", textTemplate: "x", deliverOnly: true })] },
      "hooks.mappings[0].deliverOnly",
      "action agent",
    ],
    [
      "deliverOnly that is not delivered",
      { mappings: [at("a", { deliver: false, deliverOnly: true })] },
      "hooks.mappings[0].deliverOnly",
      "contradicts",
    ],
    [
      "a module that climbs",
      { mappings: [at("a", { transform: { module: "../x.ts" } })] },
      "hooks.mappings[0].transform.module",
      "..",
    ],
    [
      "an agent that is not allowed",
      { allowedAgentIds: ["main"], mappings: [at("a", { agentId: "ops" })] },
      "hooks.mappings[0].agentId",
      "allowedAgentIds",
    ],
    [
      "an unknown agent where the default is not allowed",
      { allowedAgentIds: ["ops"], mappings: [at("a", { agentId: "who" })] },
      "hooks.mappings[0].agentId",
      "main would run",
    ],
    [
      "a model that is not allowed",
      { mappings: [at("a", { model: "cloud/large" })] },
      "hooks.mappings[0].model",
      "not allowed",
    ],
    [
      "a channel that does not exist",
      { mappings: [at("a", { channel: "slak" })] },
      "hooks.mappings[0].channel",
      "no such channel",
    ],
    [
      "a session key that no prefix allows",
      { allowedSessionKeyPrefixes: ["hook:"], mappings: [at("a", { sessionKey: "x:{{ id }}" })] },
      "hooks.mappings[0].sessionKey",
      "allowed prefix",
    ],
    [
      "a session key of a chat",
      { mappings: [at("a", { sessionKey: "agent:main:main" })] },
      "hooks.mappings[0].sessionKey",
      "chat session",
    ],
    [
      "a session key that becomes one of a chat",
      { mappings: [at("a", { sessionKey: "agent:{{ id }}" })] },
      "hooks.mappings[0].sessionKey",
      "chat session",
    ],
    [
      "a secret that cannot be read",
      { mappings: [at("a", { signature: { scheme: "github", secret: { env: "NOPE" } } })] },
      "hooks.mappings[0].signature.secret",
      "NOPE",
    ],
    [
      "a secret that is blank",
      { mappings: [at("a", { signature: { scheme: "github", secret: ["a-new-secret", " "] } })] },
      "hooks.mappings[0].signature.secret[1]",
      "blank",
    ],
    [
      "an option of another scheme",
      { mappings: [at("a", { signature: { ...signature, prefix: "x" } })] },
      "hooks.mappings[0].signature.prefix",
      "hmac and public-key only",
    ],
    ["a value of a wrong type", { mappings: [at("a", { status: 418 })] }, "", ""],
  ])("%s", (_rule, hooks, path, words) => {
    const table = compile(hooks);
    const errors = table.problems.filter(({ severity }) => severity === "error");
    if (path !== "")
      expect(errors).toEqual([
        expect.objectContaining({ path, section: "hooks.mappings[0]", message: expect.stringContaining(words) }),
      ]);
    const [mapping] = table.mappings;
    expect(mapping?.faulty ?? true).toBe(true);
  });

  test("an invalid pattern or template passes none of its requests to another mapping", () => {
    const table = compile({ mappings: [at("a", { messageTemplate: "{{ x" }), { messageTemplate: "everything else" }] });
    expect(table.way("a").mappings.map(({ at: place, faulty }) => [place, faulty])).toEqual([
      ["hooks.mappings[0]", true],
      ["hooks.mappings[1]", false],
    ]);
    expect(table.way("b").mappings.map(({ at: place }) => place)).toEqual(["hooks.mappings[1]"]);
  });

  test("an invalid match does not turn into a mapping for all requests", () => {
    const table = compile({ mappings: [{ match: { path: 5 }, messageTemplate: "x" }] });
    expect(table.mappings).toEqual([]);
  });

  test("a signature without a path is an error, and the mapping requires no signature", () => {
    const table = compile({ mappings: [{ signature, messageTemplate: "x" }] });
    expect(told(table)).toEqual(["error hooks.mappings[0].signature needs match.path"]);
    expect(table.mappings).toEqual([]);
  });
});

describe("a warning does not disable a mapping", () => {
  test.each<[rule: string, mapping: object, path: string, words: string]>([
    [
      "a channel that is known and does not run",
      { channel: "slack" },
      "hooks.mappings[0].channel",
      "no account of this channel is running",
    ],
    ["an agent that is unknown", { agentId: "who" }, "hooks.mappings[0].agentId", "not in agents.list"],
    [
      "a field that the action does not have",
      { textTemplate: "x" },
      "hooks.mappings[0].textTemplate",
      "no effect with action agent",
    ],
    [
      "a name, which no wake has",
      { action: "wake", textTemplate: "x", messageTemplate: undefined, name: "N" },
      "hooks.mappings[0].name",
      "action wake",
    ],
    [
      "a model where no agent runs",
      { deliverOnly: true, model: "local/small" },
      "hooks.mappings[0].model",
      "no effect with deliverOnly",
    ],
    ["a recipient of nothing", { deliver: false, to: "5" }, "hooks.mappings[0].to", "no effect with deliver: false"],
    [
      "a session that continues, without a key",
      { sessionMode: "persistent" },
      "hooks.mappings[0].sessionMode",
      "a session of its own",
    ],
  ])("%s", (_rule, more, path, words) => {
    const table = compile({ mappings: [at("a", more)] });
    expect(table.problems).toEqual([
      expect.objectContaining({ severity: "warning", path, message: expect.stringContaining(words) }),
    ]);
    expect(table.mappings[0]?.faulty).toBe(false);
  });

  test("a missing transform is an error but is looked up again at each request", () => {
    const table = compile({ mappings: [at("a", { transform: { module: "missing.ts" } })] });
    expect(table.problems).toMatchObject([{ severity: "error", path: "hooks.mappings[0].transform.module" }]);
    expect(table.problems[0]).not.toHaveProperty("section");
    expect(table.mappings[0]?.faulty).toBe(false);
  });
});

describe("interactions between mappings", () => {
  test("an unreachable mapping is reported with the mapping that takes its requests", () => {
    const narrow = at("a", { id: "narrow", match: { path: "a", source: "x" } });
    expect(told(compile({ mappings: [at("a", { id: "wide" }), narrow] }))).toEqual([
      "error hooks.mappings[1] is never reached: hooks.mappings[0] (wide) takes every request that it would take",
    ]);
    expect(told(compile({ mappings: [narrow, at("a")] }))).toEqual([]);
  });

  test("mappings of one path with another body type or another secret do not overlap", () => {
    expect(told(compile({ mappings: [at("a"), at("a", { body: "form" })] }))).toEqual([]);
    const other = { ...signature, secret: "another secret of it" };
    expect(told(compile({ mappings: [at("a", { signature }), at("a", { signature: other })] }))).toEqual([]);
    expect(told(compile({ mappings: [at("a", { signature }), at("a", { signature })] }))).toHaveLength(1);
  });

  test("an unsigned mapping at a signed path is an error in either order", () => {
    for (const [mappings, index] of [
      [[at("a", { signature }), at("/a")], 1] as const,
      [[at("a"), at("a", { signature })], 0] as const,
    ]) {
      const table = compile({ mappings });
      expect(table.problems.map(({ path }) => path)).toContain(`hooks.mappings[${index}].match.path`);
      expect(table.way("a").mappings.map(({ signedBy }) => signedBy !== undefined)).toEqual([true]);
    }
  });

  test("a signed path stays closed if its signature is unusable or misspelled", () => {
    for (const wrong of [
      { scheme: "github", secret: { env: "NOPE" } },
      { scheme: "githup", secret: "x" },
      { scheme: "github" },
    ]) {
      const way = compile({ mappings: [at("a", { signature: wrong }), { messageTemplate: "x" }] }).way("a");
      expect(way, JSON.stringify(wrong)).toMatchObject({ signed: true, signatures: [] });
    }
  });

  test("mappings with the same signature share one verification per request", () => {
    const table = compile({
      mappings: [at("a", { signature, match: { path: "a", source: "x" } }), at("a", { signature })],
    });
    expect(table.way("a").signatures).toHaveLength(1);
  });

  test("a duplicate id is an error of the second mapping", () => {
    expect(told(compile({ mappings: [at("a", { id: "x" }), at("b", { id: "x" })] }))).toEqual([
      'error hooks.mappings[1].id is "x", which hooks.mappings[0] already has',
    ]);
  });

  test("a mapping without an id is named by its path; the second one of a path also by its number", () => {
    const table = compile({
      mappings: [at("a"), at("a", { body: "form" }), { messageTemplate: "x" }, at("b", { id: "a-2" })],
    });
    expect(table.mappings.map(({ id }) => id)).toEqual(["a", "a-3", "mapping-3", "a-2"]);
  });

  test("a disabled mapping is skipped and takes no requests", () => {
    const table = compile({ mappings: [at("a", { enabled: false, messageTemplate: "{{" }), at("a")] });
    expect(told(table)).toEqual([]);
    expect(table.mappings).toHaveLength(1);
  });
});

describe("presets", () => {
  test("follow the user's mappings in their own order, with the settings that the user made for them", () => {
    const table = compile({ presets: ["uptime"], mappings: [{ match: { path: "x" }, messageTemplate: "x" }] });
    expect(table.mappings.map(({ id, at: place, preset }) => [id, place, preset])).toEqual([
      ["x", "hooks.mappings[0]", undefined],
      ["uptime", "hooks.presets[0]", "uptime"],
    ]);
    expect(told(table)).toEqual([]);
  });

  test("are replaced silently by a user's mapping of the same path; one that takes all is reported", () => {
    expect(told(compile({ presets: ["uptime"], mappings: [at("uptime")] }))).toEqual([]);
    expect(told(compile({ presets: ["uptime"], mappings: [{ messageTemplate: "x" }] }))).toEqual([
      "warning hooks.presets[0] the preset uptime: is never reached: hooks.mappings[0] takes every request " +
        "that it would take",
    ]);
  });

  test("that no plugin provides are an error that suggests the nearest name", () => {
    const { problems } = compile({ presets: ["uptme"] });
    expect(problems).toMatchObject([{ severity: "error", path: "hooks.presets[0]", hint: "Did you mean uptime?" }]);
  });
});
