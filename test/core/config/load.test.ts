import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { renderProblem } from "../../../core/config/problem.ts";
import { loadConfig } from "../../../core/config/reading/load.ts";
import { locateConfig, locateState } from "../../../core/config/reading/locate.ts";
import { errorsOf, load, temporary, thrownBy, writeConfig } from "./fixture.ts";

describe("files", () => {
  test("the flag takes precedence over the environment, and the environment over the home directory", () => {
    const home = "/home/somebody";
    const env = { SERVICE_CONFIG: "/etc/service.jsonc" };
    expect(locateConfig({ flag: "/a/b.jsonc", env, home })).toEqual({ file: "/a/b.jsonc", named: true });
    expect(locateConfig({ env, home })).toEqual({ file: "/etc/service.jsonc", named: true });
    expect(locateConfig({ env: {}, home })).toEqual({ file: "/home/somebody/.service/config.jsonc", named: false });
  });

  test("a missing default file is reported as an empty configuration", async () => {
    const file = join(temporary(), "config.jsonc");
    const loaded = await loadConfig({ file, named: false, env: {} });
    expect(loaded).toMatchObject({ found: false, digest: "", problems: [] });
    expect(loaded.config.gateway).toEqual({
      host: "127.0.0.1",
      port: 18_789,
      auth: {},
      trustedProxies: [],
      allowedHosts: [],
      metrics: { public: false },
      drainSeconds: 30,
    });
  });

  test("a missing file that was named is an error", async () => {
    const error = await thrownBy(() => loadConfig({ file: join(temporary(), "nope.jsonc"), env: {} }));
    expect(error.code).toBe("config_missing");
  });

  test("a directory and invalid UTF-8 are unreadable", async () => {
    expect((await thrownBy(() => loadConfig({ file: temporary(), env: {} }))).code).toBe("config_unreadable");
    const file = join(temporary(), "config.jsonc");
    writeFileSync(file, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    expect((await thrownBy(() => loadConfig({ file, env: {} }))).message).toContain("UTF-8");
  });

  test("the state directory comes from the environment, then state.dir beside the file, then the home", async () => {
    const loaded = await load({ state: { dir: "data" } });
    const from = { config: loaded.config, directory: loaded.directory, home: "/home/x" };
    expect(locateState({ ...from, env: { SERVICE_STATE_DIR: "/s" } })).toBe("/s");
    expect(locateState({ ...from, env: {} })).toBe(join(loaded.directory, "data"));
    const home = await load({ state: { dir: "~/there" } });
    expect(locateState({ ...from, config: home.config, env: {} })).toBe("/home/x/there");
    expect(locateState({ ...from, config: (await load({})).config, env: {} })).toBe("/home/x/.service");
  });
});

describe("text", () => {
  test("comments, trailing commas, a byte order mark and an empty file are accepted", async () => {
    const loaded = await load('\ufeff// top\n{ "gateway": { "port": 1, /* c */ }, }\n');
    expect(loaded.config.gateway.port).toBe(1);
    expect(loaded.problems).toEqual([]);
    expect((await load("")).problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect((await load("// nothing yet\n")).config.gateway.port).toBe(18_789);
  });

  test("a file without a value causes a warning, because a program may have emptied it", async () => {
    const warning = {
      severity: "warning",
      path: "",
      message: expect.stringContaining("the file contains no configuration"),
    };
    for (const text of ["", "// nothing yet\n"]) expect((await load(text)).problems).toMatchObject([warning]);
    expect((await load("{}")).problems).toEqual([]);
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma is missing"],
    ['{ "a": }', 1, 8, "a value is missing"],
    ['{ "a": 1', 1, 9, "closing brace"],
    ["{ a: 1 }", 1, 3, "double quotes"],
    ['{ "a": "x\n" }', 1, 8, "not closed"],
    ["[]", 1, 1, "one object in braces"],
    ['{} {"a": 1}', 1, 4, "should end here"],
  ])("invalid syntax %j is rejected with line and column", async (text, line, column, reason) => {
    const error = await thrownBy(() => load(text));
    expect(error.code).toBe("config_syntax");
    expect(error.details).toMatchObject({ line, column });
    expect(error.message).toContain(reason);
  });

  test("a file that is nested too deeply is rejected before it exhausts the stack", async () => {
    const error = await thrownBy(() => load(`{ "a": ${"[".repeat(50_000)}`));
    expect(error.details).toMatchObject({ line: 1, column: 71 });
    expect(error.message).toContain("nested");
  });

  test("a duplicate key causes a warning, and the last one applies", async () => {
    const loaded = await load('{ "gateway": { "port": 1, "port": "x" } }');
    expect(loaded.problems.map((problem) => [problem.severity, problem.path])).toEqual([
      ["warning", "gateway.port"],
      ["error", "gateway.port"],
    ]);
    expect(errorsOf(loaded)[0]).toMatchObject({ line: 1, column: 35 });
  });
});

describe("values", () => {
  test("an unknown key causes only a warning that suggests the intended key", async () => {
    const loaded = await load('{\n  "gateway": { "prot": 5 },\n  "somethingElse": 1\n}');
    expect(loaded.problems).toEqual([
      {
        severity: "warning",
        path: "gateway.prot",
        message: "this key is not known",
        hint: "Did you mean port?",
        line: 2,
        column: 24,
      },
      {
        severity: "warning",
        path: "somethingElse",
        message: "this key is not known",
        hint: expect.stringMatching(/^No plugin that is loaded declares it/),
        line: 3,
        column: 20,
      },
    ]);
    expect(loaded.disabled.size).toBe(0);
  });

  test("a wrong value is reported with its path, the value, what is allowed, and its position", async () => {
    const loaded = await load('{\n  "gateway": {\n    "port": "18789"\n  }\n}');
    expect(loaded.problems.map((problem) => renderProblem(problem, "config.jsonc"))).toEqual([
      'error: config.jsonc:3:13 gateway.port: is "18789", but must be a whole number from 0 to 65535. Write ' +
        "it without quotes.",
    ]);
  });

  test.each([
    [{ gateway: { port: 65_536 } }, "gateway.port", { gateway: { port: 18_789 } }],
    [{ gateway: { host: "" } }, "gateway.host", { gateway: { host: "127.0.0.1" } }],
    [{ gateway: { host: "0.0.0.0:80" } }, "gateway.host", { gateway: { host: "127.0.0.1" } }],
    [{ gateway: { host: "300.1.1.1" } }, "gateway.host", { gateway: { host: "127.0.0.1" } }],
    [
      { gateway: { allowedHosts: ["box.lan", "box.lan:80", "::1"] } },
      "gateway.allowedHosts[1]",
      { gateway: { allowedHosts: ["box.lan", "::1"] } },
    ],
    [{ gateway: { publicUrl: "https://:80" } }, "gateway.publicUrl", {}],
    [{ gateway: { auth: { token: 5 } } }, "gateway.auth.token", { gateway: { auth: {} } }],
    [
      { gateway: { trustedProxies: ["10.0.0.0/8", "10.0.0.0/33"] } },
      "gateway.trustedProxies[1]",
      { gateway: { trustedProxies: ["10.0.0.0/8"] } },
    ],
    [{ gateway: { trustedProxies: "*" } }, "gateway.trustedProxies", { gateway: { trustedProxies: [] } }],
    [{ session: { dmScope: "peer" } }, "session.dmScope", { session: { dmScope: "per-account-channel-peer" } }],
    [{ commands: { ownerAllowFrom: "me" } }, "commands.ownerAllowFrom", { commands: { ownerAllowFrom: [] } }],
    [{ commands: { ownerAllowFrom: [1, {}] } }, "commands.ownerAllowFrom[1]", { commands: { ownerAllowFrom: [1] } }],
    [{ commands: { config: "yes" } }, "commands.config", { commands: { config: false } }],
    [{ agents: { defaults: { models: "x/y" } } }, "agents.defaults.models", { agents: { defaults: { models: [] } } }],
    [{ agents: { defaults: { skills: "x" } } }, "agents.defaults.skills", { agents: { defaults: { skills: [] } } }],
    [
      { agents: { defaults: { budget: { perDayUsd: "5" } } } },
      "agents.defaults.budget.perDayUsd",
      { agents: { defaults: { budget: { perDayUsd: 0 } } } },
    ],
    [
      { agents: { defaults: { budget: 5 } } },
      "agents.defaults.budget",
      { agents: { defaults: { budget: { perRunTokens: 0 } } } },
    ],
    [
      { agents: { defaults: { maxConcurrent: 0 } } },
      "agents.defaults.maxConcurrent",
      { agents: { defaults: { maxConcurrent: 4 } } },
    ],
    [{ agents: { list: [{ name: "x" }, { id: "b" }] } }, "agents.list[0].id", { agents: { list: [{ id: "b" }] } }],
    [
      { agents: { list: [{}, { id: "a" }, { id: "a", name: "again" }] } },
      "agents.list[2].id",
      { agents: { list: [{ id: "a" }] } },
    ],
    [{ log: { level: "loud" } }, "log.level", { log: { level: "info" } }],
    [
      { models: { providers: { local: { api: "openai", baseUrl: "localhost:1" } } } },
      "models.providers.local.baseUrl",
      { models: { providers: {} } },
    ],
    [
      { bindings: [{ agentId: "main", match: { channel: "x", peer: { kind: "any", id: "1" } } }] },
      "bindings[0].match.peer.kind",
      { bindings: [] },
    ],
    [{ messages: null }, "messages", { messages: { ackReactionScope: "all" } }],
  ])("%j is an error and never makes the gateway less safe", async (content, path, expected) => {
    const loaded = await load(content);
    expect(errorsOf(loaded).map((problem) => problem.path)).toContain(path);
    expect(loaded.config).toMatchObject(expected);
    expect([...loaded.disabled]).toEqual([]);
  });

  test("an invalid secret is not quoted", async () => {
    const loaded = await load({
      gateway: { auth: { token: { nev: "sk-very-secret" } } },
      hooks: { token: ["sk-very-secret"] },
    });
    expect(errorsOf(loaded)).toHaveLength(2);
    expect(JSON.stringify(loaded.problems)).not.toContain("sk-very");
  });

  test("a model of a provider with an error is not called unknown: the error of the provider is enough", async () => {
    const { problems } = await load({
      agents: { defaults: { model: "local/small" } },
      models: { providers: { local: { api: "openai-compatibel", baseUrl: "http://127.0.0.1:1/v1" } } },
    });
    expect(problems.map(({ path }) => path)).toEqual(["models.providers.local.api"]);
  });

  test("a password in an address is not quoted", async () => {
    const loaded = await load({ models: { providers: { a: { api: "openai", baseUrl: "ftp://user:hunter22@host" } } } });
    expect(errorsOf(loaded)).toHaveLength(1);
    expect(JSON.stringify(loaded.problems)).not.toContain("hunter22");
  });

  test("keys that reach a prototype are ignored", async () => {
    const loaded = await load(
      '{ "__proto__": { "a": 1 }, "channels": { "constructor": {}, "x": { "groups": { "__proto__": { ' +
        '"enabled": true } } } } }',
    );
    expect(loaded.problems.map((problem) => problem.path)).toEqual([
      "__proto__",
      "channels.constructor",
      "channels.x.groups.__proto__",
    ]);
    expect(loaded.config.channels.constructor).toBeUndefined();
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  test("a file that sets nothing has the documented defaults", async () => {
    const { config, problems } = await load({});
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      gateway: {
        host: "127.0.0.1",
        port: 18_789,
        drainSeconds: 30,
        trustedProxies: [],
        allowedHosts: [],
        metrics: { public: false },
      },
      hooks: {
        enabled: false,
        path: "/hooks",
        allowRequestSessionKey: false,
        presets: [],
        mappings: [],
        maxBodyBytes: 262_144,
        transforms: { runtime: "sandbox", memoryMb: 64, cpuMs: 1_000, timeoutSeconds: 5, network: false },
      },
      session: { dmScope: "main" },
      messages: {
        groupChat: { historyLimit: 50 },
        ackReactionScope: "all",
        removeAckAfterReply: false,
        inbound: { debounceMs: 0 },
      },
      commands: { native: "auto", config: false },
      agents: {
        defaults: {
          maxConcurrent: 4,
          timeoutSeconds: 600,
          heartbeat: { every: "30m", ackMaxChars: 300, target: "last" },
        },
      },
    });
    for (const unset of [
      "token",
      "defaultSessionKey",
      "allowedSessionKeyPrefixes",
      "allowedAgentIds",
      "transformsDir",
    ]) {
      expect(config.hooks, unset).not.toHaveProperty(unset);
    }
    expect(config.messages).not.toHaveProperty("ackReaction");
    expect(config.agents.defaults).not.toHaveProperty("models");
  });

  test("the configuration is deeply frozen", async () => {
    const { config } = await load({ channels: { x: { groups: { "1": {} } } } });
    expect(Object.isFrozen(config.agents.defaults.heartbeat)).toBe(true);
    expect(() => Object.assign(config.channels.x?.groups as object, { y: 1 })).toThrow();
  });

  test("a value is located in the file, an account's also at the root of its channel", async () => {
    const loaded = await load('{\n"channels": { "x": {\n"groups": {},\n"accounts": { "a": {\n"server": 1 } } } }\n}');
    expect(loaded.locate("channels.x.accounts.a.server")?.line).toBe(5);
    expect(loaded.locate("channels.x.accounts.a.groups")?.line).toBe(3);
    expect(loaded.locate("channels.x.accounts.a.absent")?.line).toBe(4);
  });

  test("an agent's heartbeat has no defaults of its own: missing values come from agents.defaults", async () => {
    const { config } = await load({ agents: { list: [{ id: "a", heartbeat: { prompt: "look" } }] } });
    expect(config.agents.list[0]?.heartbeat).toEqual({ prompt: "look" });
    expect(config.agents.defaults.heartbeat).toEqual({ every: "30m", ackMaxChars: 300, target: "last" });
  });

  test("a file with problems in every section still loads", async () => {
    const file = writeConfig({
      gateway: 1,
      state: 2,
      log: 3,
      hooks: 4,
      channels: 5,
      session: 6,
      messages: 7,
      commands: 8,
      agents: 9,
      bindings: 10,
      models: 11,
      plugins: 12,
    });
    const loaded = await loadConfig({ file, env: {} });
    expect(errorsOf(loaded)).toHaveLength(12);
    expect(loaded.config.gateway.port).toBe(18_789);
  });
});
