import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../core/config/reading/load.ts";
import { errorsOf, load, writeConfig } from "./fixture.ts";

const hooks = (more: object) => ({ hooks: { enabled: true, token: "a-long-hook-token", ...more } });

describe("hooks", () => {
  test.each([
    ["/hooks", "/hooks"],
    ["hooks", "/hooks"],
    ["  /a/b//  ", "/a/b"],
  ])("the path %j is normalized to %j", async (path, expected) => {
    const loaded = await load(hooks({ path }));
    expect(loaded.problems).toEqual([]);
    expect(loaded.config.hooks.path).toBe(expected);
  });

  test.each([
    ["no token", { token: undefined }, "hooks.token"],
    ["a token that cannot be read", { token: { env: "NOT_THERE" } }, "hooks.token"],
    ["an empty path", { path: "  " }, "hooks.path"],
    ["the root as path", { path: "//" }, "hooks.path"],
    ["a path with a query", { path: "/a?b" }, "hooks.path"],
    ["a path that climbs", { path: "/a/../b" }, "hooks.path"],
    [
      "a default session key that the prefixes exclude",
      { defaultSessionKey: "main", allowedSessionKeyPrefixes: ["hook:"] },
      "hooks.defaultSessionKey",
    ],
    ["transforms outside of their root", { transformsDir: "../elsewhere" }, "hooks.transformsDir"],
    ["transforms at an absolute path", { transformsDir: "/etc" }, "hooks.transformsDir"],
    ["transforms in the home", { transformsDir: "~/transforms" }, "hooks.transformsDir"],
    ["an empty list of transforms limits", { transforms: { memoryMb: 1 } }, "hooks.transforms.memoryMb"],
  ])("%s keeps the hook server disabled", async (_name, more, path) => {
    const loaded = await load(hooks(more));
    expect(errorsOf(loaded)).toMatchObject([{ path, section: "hooks" }]);
    expect([...loaded.disabled]).toEqual(["hooks"]);
    expect(loaded.config.hooks.enabled).toBe(false);
  });

  test("the gateway's token is rejected as hook token without being shown, wherever both are set", async () => {
    const token = "one-token-for-everything";
    const content = { gateway: { auth: { token: { env: "A" } } }, hooks: { enabled: true, token: { env: "B" } } };
    const loaded = await load(content, { A: token, B: ` ${token}\n` });
    expect(errorsOf(loaded)).toMatchObject([{ path: "hooks.token", section: "hooks" }]);
    expect(JSON.stringify(loaded.problems)).not.toContain(token);
  });

  test("disabled hooks need no token", async () => {
    expect((await load({ hooks: { path: "x" } })).problems).toEqual([]);
  });

  test("a directory inside the transforms root is accepted, absolute or relative", async () => {
    expect((await load(hooks({ transformsDir: "mail" }))).problems).toEqual([]);
    const file = writeConfig("");
    writeFileSync(file, JSON.stringify(hooks({ transformsDir: join(dirname(file), "transforms", "x") })));
    expect((await loadConfig({ file, env: {} })).problems).toEqual([]);
  });

  test("a wrong value in a mapping disables only that mapping", async () => {
    const loaded = await load(hooks({ mappings: [{}, { action: "agnt" }] }));
    expect(errorsOf(loaded)).toMatchObject([{ path: "hooks.mappings[1].action", section: "hooks.mappings[1]" }]);
    expect(loaded.config.hooks.enabled).toBe(true);
  });

  test("a mapping that is not an object keeps the hook server disabled", async () => {
    const loaded = await load(hooks({ mappings: ["push"] }));
    expect(errorsOf(loaded)).toMatchObject([{ path: "hooks.mappings[0]", section: "hooks" }]);
    expect(loaded.config.hooks.enabled).toBe(false);
  });
});

describe("channels", () => {
  test.each([
    ["open without *", { dmPolicy: "open", allowFrom: [1] }, "channels.chat.dmPolicy"],
    ["an allowlist that is not a list", { allowFrom: "*" }, "channels.chat.allowFrom"],
    [
      "an unknown policy in a topic",
      { groups: { "-1": { topics: { "2": { groupPolicy: "all" } } } } },
      "channels.chat.groups.-1.topics.2.groupPolicy",
    ],
    ["accounts that are a list", { accounts: [] }, "channels.chat.accounts"],
  ])("%s disables the channel, and the others run", async (_name, section, path) => {
    const loaded = await load({ channels: { chat: section, other: { dmPolicy: "disabled" } } });
    expect(errorsOf(loaded)).toMatchObject([{ path, section: "channels.chat" }]);
    expect(loaded.config.channels.chat?.enabled).toBe(false);
    expect(loaded.config.channels.other).toEqual({ dmPolicy: "disabled" });
  });

  test.each([
    ["an id that cannot be one", { "a b": {} }, 'channels.chat.accounts["a b"]', 'channels.chat.accounts["a b"]'],
    [
      "the id of another account in other case",
      { b: {}, B: {} },
      "channels.chat.accounts.B",
      "channels.chat.accounts.B",
    ],
    ["a wrong value", { b: { historyLimit: -1 } }, "channels.chat.accounts.b.historyLimit", "channels.chat.accounts.b"],
    ["open without *", { b: { dmPolicy: "open" } }, "channels.chat.accounts.b.dmPolicy", "channels.chat.accounts.b"],
    ["no object", { b: 5 }, "channels.chat.accounts.b", "channels.chat.accounts.b"],
  ])("in an account, %s disables only that account", async (_name, accounts, path, section) => {
    const loaded = await load({ channels: { chat: { accounts: { a: {}, ...accounts } } } });
    expect(errorsOf(loaded)).toMatchObject([{ path, section }]);
    expect([...loaded.disabled]).toEqual([section]);
    expect(loaded.config.channels.chat?.enabled).toBeUndefined();
  });

  test("`open` without * disables only its account, even if inherited; another mistake does not hide it", async () => {
    const accounts = { a: { allowFrom: [2] }, b: { historyLimit: -1 }, c: {} };
    const loaded = await load({ channels: { chat: { dmPolicy: "open", allowFrom: ["*"], accounts } } });
    expect(errorsOf(loaded)).toMatchObject([
      { path: "channels.chat.dmPolicy", section: "channels.chat.accounts.a" },
      { path: "channels.chat.accounts.b.historyLimit", section: "channels.chat.accounts.b" },
    ]);
  });

  test("keys unknown to the gateway are left unchanged and not reported", async () => {
    const section = { streamMode: 5, botToken: { env: "X" }, accounts: { a: { deep: { er: [1] } } } };
    const loaded = await load({ channels: { chat: section } });
    expect(loaded.problems).toEqual([]);
    expect(loaded.config.channels.chat).toEqual(section);
  });

  test("the raw section has no defaults: they are applied after merging", async () => {
    expect((await load({ channels: { chat: {} } })).config.channels.chat).toEqual({});
  });
});

describe("plugins and agents", () => {
  test("an invalid entry disables its plugin, even if the entry is not an object", async () => {
    const loaded = await load({ plugins: { entries: { a: 5, b: { enabled: "no" }, c: { options: { x: 1 } } } } });
    expect([...loaded.disabled].sort()).toEqual(["plugins.entries.a", "plugins.entries.b"]);
    expect(loaded.config.plugins.entries).toEqual({
      a: { enabled: false, isolation: "inline", options: {} },
      b: { enabled: false, isolation: "inline", options: {} },
      c: { enabled: true, isolation: "inline", options: { x: 1 } },
    });
  });

  test("a binding to a missing agent causes a warning", async () => {
    const loaded = await load({
      agents: { list: [{ id: "a" }] },
      bindings: [{ agentId: "b", match: { channel: "x" } }],
    });
    expect(loaded.problems).toMatchObject([{ severity: "warning", path: "bindings[0].agentId" }]);
  });

  test("a binding with a wildcard matches nothing and causes a warning", async () => {
    const matches = [{ peer: { kind: "group", id: "*" } }, { peer: { kind: "group", id: "-1001" }, threadId: "*" }, {}];
    const loaded = await load({
      bindings: matches.map((match) => ({ agentId: "main", match: { channel: "x", ...match } })),
    });
    expect(loaded.problems.map(({ severity, path, message }) => [severity, path, message])).toEqual([
      ["warning", "bindings[0].match.peer.id", 'is "*", which matches no chat'],
      ["warning", "bindings[1].match.threadId", 'is "*", which matches no thread'],
    ]);
  });
});
