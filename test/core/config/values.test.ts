import Type from "typebox";
import { describe, expect, test } from "vitest";
import { parseConfigValue, showConfigValue } from "../../../core/config/editing/values.ts";
import type { PluginSchemas } from "../../../core/config/plugin-schemas.ts";
import { renderJsonSchema } from "../../../core/config/showing/json-schema.ts";
import { load, thrownBy } from "./fixture.ts";

const schemas: PluginSchemas = {
  channels: {
    chat: {
      options: Type.Object({
        botToken: Type.Optional(Type.String()),
        proxy: Type.Optional(Type.String()),
        size: Type.Integer({ default: 5 }),
      }),
      secrets: ["botToken"],
    },
  },
  plugins: { mail: Type.Object({ apiKey: Type.String(), limit: Type.Integer() }) },
};

describe("a typed value", () => {
  test.each([
    ["gateway.port", "8080", 8_080],
    ["gateway.host", "127.0.0.1", "127.0.0.1"],
    ["gateway.host", '"localhost"', "localhost"],
    ["hooks.enabled", "true", true],
    ["hooks.token", "123456", "123456"],
    ["hooks.token", '{"env":"TOKEN"}', { env: "TOKEN" }],
    ["hooks.presets", '["gmail"]', ["gmail"]],
    ["commands.native", "auto", "auto"],
    ["commands.native", "false", false],
    ["bindings[0].match.peer.id", "-100123", "-100123"],
    ["channels.chat.allowFrom[0]", "42", 42],
    ["channels.chat.allowFrom[0]", "123456789012345678901", "123456789012345678901"],
    ["channels.chat.groups.-100123.requireMention", "false", false],
    ["channels.chat.accounts.work.dmPolicy", "disabled", "disabled"],
    ["channels.chat.botToken", "12:ab", "12:ab"],
    ["channels.chat.botToken", '{"file":"token"}', { file: "token" }],
    ["channels.chat.size", "7", 7],
    ["channels.unknown.anything.at.all", "7", 7],
    ["channels.unknown.anything", "text", "text"],
    ["channels.unknown.id", "123456789012345678901", "123456789012345678901"],
    ["plugins.entries.mail.options.limit", "3", 3],
    ["agents.defaults.model", "local/big", "local/big"],
    ["agents.defaults.models.a/b.alias", "fast", "fast"],
  ])("%s %s", (path, text, expected) => {
    expect(parseConfigValue(path, text, schemas)).toEqual(expected);
  });

  test.each([
    ["gateway.port", "many", "whole number"],
    ["hooks.enabled", "yes", "true or false"],
    ["channels.chat.size", "big", "whole number"],
    ["channels.chat.dmPolicy", "all", '"pairing"'],
  ])("%s %s is rejected", async (path, text, reason) => {
    const error = await thrownBy(() => parseConfigValue(path, text, schemas));
    expect(error.code).toBe("config_invalid");
    expect(error.message).toContain(reason);
  });

  test.each([
    ["gatway.port", "Did you mean gateway?"],
    ["gateway.prt", "Did you mean gateway.port?"],
    ["gateway.port.x", "No value is allowed there."],
    ["channels.chat.dmPolice", "Did you mean channels.chat.dmPolicy?"],
    ["channels.chat.__proto__", 'Write it as a.b[0].c, or a["key with.dots"].'],
  ])("%s is not a key", async (path, hint) => {
    const error = await thrownBy(() => parseConfigValue(path, "1", schemas));
    expect(error.code).toBe("config_path_unknown");
    expect(error.hint).toBe(hint);
  });
});

describe("a displayed value", () => {
  const content = {
    gateway: { auth: { token: "SECRET-1" } },
    hooks: {
      token: { env: "SECRET-2" },
      mappings: [{ signature: { scheme: "github", secret: "SECRET-3" }, match: { path: "x" } }],
      gmail: { oauthSecret: "SECRET-4" },
    },
    channels: {
      chat: {
        botToken: "SECRET-5",
        proxy: "socks5://me:SECRET-6@host:1",
        accounts: { a: { botToken: { file: "SECRET-7" } } },
      },
      other: {
        server: "irc.example",
        password: "SECRET-8",
        deep: [{ webhookSecret: "SECRET-9" }],
        tokenFile: "/run/token",
      },
    },
    models: { providers: { local: { api: "openai", apiKey: "SECRET-10", headers: { "x-key": "SECRET-11" } } } },
    agents: { defaults: { mcpServers: { m: { command: "x", env: { A: "SECRET-12" } } } } },
    plugins: {
      entries: {
        mail: { options: { apiKey: "SECRET-13", limit: 1 } },
        else: { options: { clientSecret: "SECRET-14" } },
      },
    },
  };

  test("contains no secret in any form, with or without the schemas of plugins", async () => {
    const { config } = await load(content);
    for (const known of [schemas, {}])
      expect(JSON.stringify(showConfigValue(config, "", known))).not.toMatch(/SECRET-(?!6)/);
    expect(showConfigValue(config, "channels.chat.proxy", schemas)).toBe("socks5://(set)@host:1");
    expect(showConfigValue(config, "hooks.token")).toBe("(set)");
    expect(showConfigValue(config, "hooks.token.env")).toBeUndefined();
    expect(showConfigValue(config, "channels.chat.accounts.a.botToken", schemas)).toBe("(set)");
    expect(showConfigValue(config, "channels.other.tokenFile")).toBe("/run/token");
    expect(showConfigValue(config, "channels.other.server")).toBe("irc.example");
  });

  test("omits the key in an address's query but shows the rest of the address", async () => {
    const providers = {
      a: { api: "openai-compatible", baseUrl: "https://llm.example/v1?api-version=2&subscription-key=S3&key=S4#x" },
    };
    const feed = { url: "https://tools.example/feed?apiKey=S5&region=eu" };
    const declared = { sections: { feed: Type.Object({ url: Type.String() }) } };
    const written = {
      models: { providers },
      feed,
      agents: { defaults: { systemPrompt: "See https://x.example/?key=7" } },
    };
    const { config } = await load(written, {}, declared);
    expect(showConfigValue(config, "models.providers.a.baseUrl")).toBe(
      "https://llm.example/v1?api-version=2&subscription-key=(set)&key=(set)#x",
    );
    expect(showConfigValue(config, "feed.url", declared)).toBe("https://tools.example/feed?apiKey=(set)&region=eu");
    expect(showConfigValue(config, "agents.defaults.systemPrompt")).toBe("See https://x.example/?key=7");
  });

  test("is the default if the channel does not set it, and the channel's value if the account does not", async () => {
    const { config } = await load({
      channels: { chat: { dmPolicy: "open", allowFrom: ["*"], accounts: { a: {} } }, other: {} },
    });
    expect(showConfigValue(config, "channels.other.dmPolicy", schemas)).toBe("pairing");
    expect(showConfigValue(config, "channels.chat.accounts.a.dmPolicy", schemas)).toBe("open");
    expect(showConfigValue(config, "channels.chat.accounts.a.groupPolicy", schemas)).toBe("allowlist");
  });

  test("is undefined if it is not set, and an error if no schema has it", async () => {
    const { config } = await load({});
    expect(showConfigValue(config, "gateway.port")).toBe(18_789);
    expect(showConfigValue(config, "hooks.token")).toBeUndefined();
    expect((await thrownBy(() => showConfigValue(config, "gateway.ports"))).hint).toBe("Did you mean gateway.port?");
  });
});

test("the JSON Schema requires nothing that has a default, covers plugins, and contains no internal keywords", () => {
  const schema = renderJsonSchema(schemas) as {
    properties: Record<string, { properties: Record<string, { properties: object }>; required?: unknown }>;
  };
  expect(schema).not.toHaveProperty("required");
  expect(schema.properties.gateway).toMatchObject({ additionalProperties: false });
  expect(schema.properties.channels?.properties.chat?.properties).toMatchObject({
    dmPolicy: {},
    size: {},
    accounts: {},
  });
  const text = JSON.stringify(schema);
  for (const word of ['"fallback":', '"secret":true', '"whole":', '"expects":', "~kind"])
    expect(text).not.toContain(word);
});
