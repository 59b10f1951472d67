import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

function homeWith(config: string): { readonly home: string; readonly file: string } {
  const home = temporaryHome();
  const file = join(home, ".service", "config.jsonc");
  mkdirSync(join(home, ".service"), { recursive: true });
  writeFileSync(file, config);
  return { home, file };
}

describe("config", () => {
  test("get shows the effective values but never a secret", async () => {
    const { home } = homeWith(`{
      "hooks": { "enabled": true, "token": "hook-secret-1" },
      "gateway": { "auth": { "token": { "env": "GATEWAY_TOKEN" } } },
      "channels": { "chat": { "botToken": "chat-secret-2", "proxy": "http://me:proxy-secret-3@proxy:3128", "accounts": { "a": { "webhookSecret": "chat-secret-4" } } } },
      "models": { "providers": { "local": { "api": "openai-compatible", "apiKey": "model-secret-5", "headers": { "X-Extra": "model-secret-6" } } } },
      "plugins": { "entries": { "mail": { "options": { "password": "plugin-secret-7" } } } },
    }`);
    const { code, out } = await run(["config", "get"], { home, env: { GATEWAY_TOKEN: "gateway-secret-8" } });
    expect(code).toBe(0);
    expect(out).not.toContain("secret-");
    expect(JSON.parse(out)).toMatchObject({
      gateway: { port: 18_789, auth: { token: "(set)" } },
      hooks: { token: "(set)" },
      channels: { chat: { botToken: "(set)", proxy: "http://(set)@proxy:3128" } },
    });
    expect((await run(["config", "get", "hooks.token"], { home })).out).toBe("(set)\n");
    expect((await run(["config", "get", "channels.chat.accounts.a.webhookSecret"], { home })).out).toBe("(set)\n");
  });

  test("get of an unknown key suggests a similar one", async () => {
    const { home } = homeWith("{}");
    const { code, err } = await run(["config", "get", "gateway.prot"], { home });
    expect(code).toBe(1);
    expect(err).toBe("error: The configuration key gateway.prot does not exist.\n       Did you mean gateway.port?\n");
  });

  test("set and unset change the file and keep its comments", async () => {
    const { home, file } = homeWith('{\n  // ours\n  "gateway": { "port": 1 }, // the port\n}\n');
    expect(await run(["config", "set", "gateway.port", "18800"], { home })).toMatchObject({
      code: 0,
      out: "gateway.port is set.\n",
    });
    expect(readFileSync(file, "utf8")).toBe('{\n  // ours\n  "gateway": { "port": 18800 }, // the port\n}\n');
    expect((await run(["config", "get", "gateway.port"], { home })).out).toBe("18800\n");
    expect(await run(["config", "unset", "gateway.port"], { home })).toMatchObject({ code: 0 });
    expect((await run(["config", "get", "gateway.port"], { home })).out).toBe("18789\n");
  });

  test("set refuses to write an invalid value", async () => {
    const { home, file } = homeWith("{}");
    const { code, err } = await run(["config", "set", "gateway.port", "99999"], { home });
    expect(code).toBe(1);
    expect(err).toContain("gateway.port: is 99999, but must be a whole number from 0 to 65535.");
    expect(readFileSync(file, "utf8")).toBe("{}");
  });

  test("set keeps digits as a string if the schema expects a string", async () => {
    const { home, file } = homeWith("{}");
    await run(["config", "set", "agents.defaults.model", "123"], { home });
    expect(readFileSync(file, "utf8")).toMatch(/"model": "123"/);
  });

  test("validate lists every problem, including those of plugins, and exits with 1", async () => {
    const { home } = homeWith(
      '{ "gateway": { "port": "x", "prot": 1 }, "plugins": { "entries": { "playgrund": {} }, "load": ["./nowhere"] } }',
    );
    const { code, out } = await run(["config", "validate"], { home });
    expect(code).toBe(1);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^error: \S+config\.jsonc:1:\d+ gateway\.port: is "x", but must be /);
    expect(out).toContain("Did you mean playground?");
    expect(out).toContain("The plugin ./nowhere cannot be found");
    const { ok, problems } = JSON.parse((await run(["config", "validate", "--json"], { home })).out) as {
      readonly ok: boolean;
      readonly problems: readonly object[];
    };
    expect([ok, problems.length]).toEqual([false, 4]);
  });

  test("validate finds errors in mappings and presets, and set refuses to write them", async () => {
    const broken = { match: { path: "door" }, messageTemplate: "{{ open" };
    const { home } = homeWith(JSON.stringify({ hooks: { presets: ["gmial"], mappings: [broken] } }));
    const { code, out } = await run(["config", "validate"], { home });
    expect(code).toBe(1);
    expect(out).toMatch(
      /config\.jsonc:1:\d+ hooks\.mappings\[0\]\.messageTemplate: .* hooks\.mappings\[0\] is off until then\./,
    );
    expect(out).toMatch(/hooks\.presets\[0\]: is "gmial".*Did you mean gmail\?/);
    const set = await run(["config", "set", "hooks.mappings[0].messageTemplate", "{{ shut"], {
      home: homeWith('{ "hooks": { "mappings": [{ "match": { "path": "a" }, "messageTemplate": "x" }] } }').home,
    });
    expect(set.code).toBe(1);
    expect(set.err).toContain("hooks.mappings[0].messageTemplate");
  });

  test("validate reports a faulty channel once, not again for each mapping that names it", async () => {
    const { home } = homeWith(`{
      "hooks": { "enabled": true, "token": "a-token-of-32-characters-abcdefgh", "mappings": [
        { "match": { "path": "alert" }, "messageTemplate": "{{ text }}", "channel": "botchat", "to": "1" },
      ] },
      "channels": { "botchat": { "botToken": { "env": "BOT_TOKEN" }, "allowFrom": ["1"] } },
    }`);
    const problems = async () =>
      (
        JSON.parse((await run(["config", "validate", "--json"], { home })).out) as {
          readonly problems: readonly { path: string }[];
        }
      ).problems;
    expect((await problems()).map(({ path }) => path)).toEqual(["channels.botchat.botToken"]);
  });

  test("validate finds two accounts that listen on the same address", async () => {
    const accounts = { home: { botToken: "1:a", webhookPath: "/one" }, work: { botToken: "2:b", webhookPath: "/two" } };
    const { home } = homeWith(
      JSON.stringify({
        channels: { botchat: { webhookUrl: "https://example.org/h", webhookSecret: "secret-of-the-test", accounts } },
      }),
    );
    const { code, out } = await run(["config", "validate"], { home });
    expect(code).toBe(1);
    expect(out).toContain(
      "channels.botchat.accounts.work.webhookPort: is 8787, and channels.botchat.accounts.home listens there already",
    );
  });

  test.each([
    [
      '{ "channels": { "matrix": { "botToken": "1:a" } } }',
      "warning",
      /channels\.matrix: no enabled plugin provides this channel\. Add its plugin with `.+ plugins add NAME`, or name it in plugins\.load\. Available channels: botchat\./,
    ],
    [
      '{ "channels": { "botchta": {} } }',
      "warning",
      /channels\.botchta: no enabled plugin provides this channel\. Did you mean botchat\?/,
    ],
    [
      '{ "channels": { "botchat": { "botToken": "1:a", "dmpolicy": "open" } } }',
      "warning",
      /dmpolicy: this key is not known\. Did you mean dmPolicy\?/,
    ],
    [
      '{ "agents": { "defaults": { "model": "gpt-4" } } }',
      "warning",
      /agents\.defaults\.model: is "gpt-4", which is neither an alias nor of the form provider\/model\. Write it as provider\/model\./,
    ],
    [
      '{ "agents": { "list": [{ "id": "a", "model": { "primary": "local/x", "fallbacks": ["far/y"] } }] }, ' +
        '"models": { "providers": { "local": { "api": "openai-compatible", "apiKey": { "env": "NOT_SET" } } } ' +
        "} }",
      "warning",
      /list\[0\]\.model\.fallbacks\[0\]: is "far\/y", and models\.providers has no "far"\. Add models\.providers\.far [\s\S]*models\.providers\.local\.apiKey: the secret cannot be read: the environment variable NOT_SET is not set\./,
    ],
    [
      '{ "agents": { "defaults": { "model": "ollama/llama3.2" } }, "budget": { "perMonthUsd": 5 } }',
      "warning",
      /budget\.perMonthUsd: a limit in US dollars needs a price, and that of ollama\/llama3\.2 is unknown, so this model is not called\. If it costs nothing, set models\.prices\["ollama\/\*"\] to \{ "input": 0, "output": 0 \}\./,
    ],
    [
      '{ "gateway": { "auth": { "token": { "env": "NOT_SET" } } } }',
      "warning",
      /gateway\.auth\.token: the secret cannot be read: the environment variable NOT_SET is not set; no gateway starts without it\./,
    ],
    [
      '{ "gateway": { "auth": { "token": { "file": "not-there" } } } }',
      "error",
      /gateway\.auth\.token: the secret cannot be read: .*not-there/,
    ],
    [
      '{ "gateway": { "auth": { "token": "fifteen-letters" } } }',
      "warning",
      /gateway\.auth\.token: has fewer than 16 characters/,
    ],
    [
      '{ "hooks": { "enabled": true, "token": "  padded-to-16  " } }',
      "warning",
      /hooks\.token: has fewer than 16 characters/,
    ],
    [
      '{ "hooks": { "enabled": true, "token": " \\t " } }',
      "error",
      /hooks\.token: the secret cannot be read: it is blank\./,
    ],
    [
      '{ "gateway": { "auth": { "token": " " } } }',
      "error",
      /gateway\.auth\.token: the secret cannot be read: it is blank\./,
    ],
    [
      '{ "hooks": { "mappings": [{ "match": { "path": "a" }, "messageTemplate": "x", "signature": { ' +
        '"scheme": "github", "secret": "short-one" } }] } }',
      "warning",
      /signature\.secret: has fewer than 16 characters/,
    ],
    [
      '{ "channels": { "botchat": { "botToken": "7:x", "webhookUrl": "https://example.org/h", ' +
        '"webhookSecret": "short-one" } } }',
      "warning",
      /channels\.botchat\.webhookSecret: has fewer than 16 characters/,
    ],
  ])(
    "validate reports problems that would otherwise show only as missing replies: %s",
    async (text, severity, said) => {
      const { home } = homeWith(text);
      const { code, out } = await run(["config", "validate"], { home });
      expect(out).toMatch(said);
      expect([code, out.includes("error:")]).toEqual(severity === "error" ? [1, true] : [0, false]);
    },
  );

  test("validate reports nothing for a disabled channel, or for a model with an alias and a price", async () => {
    const models = { "local/large-one": { alias: "big" } };
    const { home, file } = homeWith(
      JSON.stringify({
        channels: { irc: { enabled: false } },
        agents: { defaults: { model: "Big", models } },
        budget: { perDayUsd: 1 },
        models: {
          providers: { local: { baseUrl: "http://127.0.0.1:9/v1" } },
          prices: { "local/*": { input: 0, output: 0 } },
        },
      }),
    );
    expect(await run(["config", "validate"], { home })).toMatchObject({ code: 0, out: `${file} is valid.\n` });
  });

  test("an error in a channel's common options does not hide errors in its own, with or without accounts", async () => {
    const own = { enabled: "yes", dmPolicy: "opne", streamMode: "loud", botToken: { env: "ABSENT" } };
    const { home, file } = homeWith(JSON.stringify({ channels: { botchat: own } }));
    const paths = async () => {
      const { problems } = JSON.parse((await run(["config", "validate", "--json"], { home })).out) as {
        problems: { path: string }[];
      };
      return problems.map(({ path }) => path).sort();
    };
    const root = ["botToken", "dmPolicy", "enabled", "streamMode"].map((key) => `channels.botchat.${key}`);
    expect(await paths()).toEqual(root);
    const { botToken, ...rest } = own;
    writeFileSync(
      file,
      JSON.stringify({
        channels: { botchat: { ...rest, streamMode: "off", accounts: { a: { botToken, linkPreview: 1 } } } },
      }),
    );
    expect(await paths()).toEqual([
      "channels.botchat.accounts.a.botToken",
      "channels.botchat.accounts.a.linkPreview",
      "channels.botchat.dmPolicy",
      "channels.botchat.enabled",
    ]);
    // Off is off: nobody is told of what they have laid aside.
    writeFileSync(file, JSON.stringify({ channels: { botchat: { ...own, enabled: false } } }));
    expect(await paths()).toEqual(["channels.botchat.dmPolicy"]);
  });

  test("two plugins with the same id are reported before a gateway leaves out the second", async () => {
    const { home } = homeWith(JSON.stringify({ plugins: { load: ["./second"] } }));
    mkdirSync(join(home, ".service", "second"));
    const source = 'export default { id: "echo", version: "1.0.0", host: "^0.2.0", setup() {} };';
    writeFileSync(join(home, ".service", "second", "index.js"), source);
    const { code, out } = await run(["config", "validate"], { home });
    expect(code).toBe(1);
    const sentence =
      /Two plugins have the id echo: the bundled one \(\S+\) and \S+second\/index\.js\. Only the first is loaded/;
    expect(out).toMatch(sentence);
    expect(out).toContain("Remove one of the two from plugins.load, or change its id");
    const listed = JSON.parse((await run(["plugins", "list", "--json"], { home })).out) as {
      plugins: { id: string; state: string }[];
    };
    expect(listed.plugins.filter(({ state }) => state === "failed")).toMatchObject([
      { id: "./second", reason: expect.stringMatching(sentence) },
    ]);
  });

  test("validate of a valid file exits with 0", async () => {
    const { home, file } = homeWith("{}");
    expect(await run(["config", "validate"], { home })).toMatchObject({ code: 0, out: `${file} is valid.\n` });
  });

  test("a syntax error is reported with line and column", async () => {
    const { home, file } = homeWith('{\n  "gateway": { "port": 1,, }\n}');
    const { code, out, err } = await run(["config", "validate"], { home });
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.split("\n")[0]).toMatch(new RegExp(`^error: ${file}:2:\\d+: `));
    const json = await run(["config", "validate", "--json"], { home });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      file,
      ok: false,
      problems: [{ severity: "error", path: "", line: 2 }],
    });
  });

  test("schema prints JSON Schema", async () => {
    const { code, out } = await run(["config", "schema"], { home: temporaryHome() });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      $schema: expect.stringContaining("json-schema.org"),
      properties: { gateway: { properties: { port: { default: 18_789 } } } },
    });
    expect(out).not.toContain('"secret": true');
  });
});
