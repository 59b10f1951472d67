import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { editConfig, renameConfigKey } from "../../../core/config/editing/edit.ts";
import { temporary, thrownBy, writeConfig } from "./fixture.ts";

const nasty = `// first line
{
    /* before gateway */ "gateway": { // behind the brace
        // own line
        "port": 18789 /* behind the value */, // behind the comma
        "host": "127.0.0.1" // no comma // "port": 5
        // last in gateway
    }, /* between */ "log": { "level": "info" /* in line */ },
    "channels": { "chat": {
        "allowFrom": [ 111, /* ann */ 222, // bob
            333
            // end of list
        ],
        "groups": { /* none */ },
        // "url": "https://x/*"
        "server": "http://a//b", }
    },
    "commands": {}, // trailing
}
// last line
`;

const commentsOf = (text: string) =>
  [
    "first line",
    "before gateway",
    "behind the brace",
    "own line",
    "behind the value",
    "behind the comma",
    'no comma // "port": 5',
    "last in gateway",
    "between",
    "in line",
    "ann",
    "bob",
    "end of list",
    "none",
    '"url"',
    "trailing",
    "last line",
  ].filter((comment) => !text.includes(comment));

const edited = async (text: string, path: string, value: unknown) => {
  const file = writeConfig(text);
  await editConfig(file, path, value, { env: {} });
  return readFileSync(file, "utf8");
};

describe("comments", () => {
  test.each([
    ["gateway.port", 1],
    ["gateway.port", undefined],
    ["gateway.host", undefined],
    ["gateway.drainSeconds", 5],
    ["gateway.auth.token", { env: "X" }],
    ["gateway", { port: 2, trustedProxies: [] }],
    ["log.level", undefined],
    ["log.level", "debug"],
    ["channels.chat.allowFrom", [111, 333]],
    ["channels.chat.allowFrom", [222, 333, 444]],
    ["channels.chat.allowFrom", [111, 999, 222, 333]],
    ["channels.chat.allowFrom[1]", undefined],
    ["channels.chat.allowFrom[2]", undefined],
    ["channels.chat.allowFrom.3", 444],
    ["channels.chat.groups.-100", { requireMention: false }],
    ["channels.chat.server", undefined],
    ["channels.chat.extra", "x"],
    ["commands.config", true],
    ["commands", undefined],
    ["models.providers.local", { api: "openai" }],
  ])("%s = %j keeps every comment", async (path, value) => {
    const after = await edited(nasty, path, value);
    expect(commentsOf(after)).toEqual([]);
    expect(after).not.toBe(nasty);
    expect(after.endsWith("// last line\n")).toBe(true);
  });

  test("a comment stays on its own line when a key is added after it", async () => {
    const after = await edited('{\n  "gateway": {\n    "port": 1 // the port\n  }\n}\n', "gateway.host", "localhost");
    expect(after).toBe('{\n  "gateway": {\n    "port": 1, // the port\n    "host": "localhost"\n  }\n}\n');
  });

  test("a removed key leaves no gap and no dangling comma", async () => {
    expect(
      await edited('{\n  "log": {},\n  "gateway": { "port": 1, "host": "localhost" }\n}\n', "gateway.host", undefined),
    ).toBe('{\n  "log": {},\n  "gateway": { "port": 1 }\n}\n');
    expect(
      await edited('{\n  "log": {},\n  "gateway": { "port": 1, "host": "localhost" }\n}\n', "gateway.port", undefined),
    ).toBe('{\n  "log": {},\n  "gateway": { "host": "localhost" }\n}\n');
    expect(await edited('{\n  "log": {},\n  "gateway": {\n    "port": 1\n  }\n}\n', "gateway", undefined)).toBe(
      '{\n  "log": {}\n}\n',
    );
  });

  test("indentation, line endings and a byte order mark are preserved", async () => {
    expect(await edited('\ufeff{\r\n\t"log": {}\r\n}', "gateway.port", 5)).toBe(
      '\ufeff{\r\n\t"log": {},\r\n\t"gateway": {\r\n\t\t"port": 5\r\n\t}\r\n}',
    );
  });

  test("an empty file and a file with only comments get an object", async () => {
    expect(await edited("// mine\n", "gateway.port", 5)).toBe('// mine\n{\n  "gateway": {\n    "port": 5\n  }\n}\n');
    expect(await edited("", "gateway.port", 5)).toBe('{\n  "gateway": {\n    "port": 5\n  }\n}\n');
  });
});

describe("checks", () => {
  test("a change that would cause an error is refused, and nothing is written", async () => {
    const file = writeConfig(nasty);
    const error = await thrownBy(() => editConfig(file, "gateway.port", "x", { env: {} }));
    expect(error.code).toBe("config_invalid");
    expect(error.message).toContain("gateway.port");
    await thrownBy(() => editConfig(file, "hooks.enabled", true, { env: {} }));
    expect(readFileSync(file, "utf8")).toBe(nasty);
    expect(readdirSync(dirname(file))).toEqual(["config.jsonc"]);
  });

  test("an existing error does not prevent the correction of another", async () => {
    const file = writeConfig({ gateway: { port: "x" }, log: { level: "loud" } });
    await editConfig(file, "gateway.port", 1, { env: {} });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ gateway: { port: 1 }, log: { level: "loud" } });
  });

  test("an error found by an additional check also prevents the change", async () => {
    const file = writeConfig({});
    const check = async ({ config }: { readonly config: { readonly channels: object } }) =>
      "chat" in config.channels
        ? [{ severity: "error" as const, path: "channels.chat.server", message: "is missing" }]
        : [];
    const error = await thrownBy(() => editConfig(file, "channels.chat.port", 1, { env: {}, check }));
    expect(error.message).toContain("channels.chat.server");
  });

  test("an unknown key is written with a warning; writing the same value again changes nothing", async () => {
    const file = writeConfig({});
    const first = await editConfig(file, "gateway.prt", 5, { env: {} });
    expect(first).toMatchObject({ changed: true, problems: [{ severity: "warning", hint: "Did you mean port?" }] });
    expect(await editConfig(file, "gateway.prt", 5, { env: {} })).toEqual({ changed: false, problems: [] });
    expect(await editConfig(file, "gateway.nothing", undefined, { env: {} })).toEqual({ changed: false, problems: [] });
  });

  test.each(["", "a..b", "__proto__.x", "gateway.constructor"])("%j is not a valid path", async (path) => {
    expect((await thrownBy(() => editConfig(writeConfig({}), path, 1))).code).toBe("config_path_unknown");
  });

  test("a path given as segments is checked in the same way", async () => {
    const error = await thrownBy(() => editConfig(writeConfig({}), ["channels", "__proto__", "x"], 1));
    expect(error.code).toBe("config_path_unknown");
  });

  test("a path through a plain value, a gap in a list and a duplicate key are refused", async () => {
    const text = '{ "gateway": { "port": 1 }, "bindings": [], "log": { "level": "info" }, "log": { "level": "warn" } }';
    for (const [path, value] of [
      ["gateway.port.x", 1],
      ["bindings[3]", 1],
      ["log", undefined],
    ] as const) {
      const file = writeConfig(text);
      expect((await thrownBy(() => editConfig(file, path, value, { env: {} }))).code).toBe("config_invalid");
      expect(readFileSync(file, "utf8")).toBe(text);
    }
  });

  test("a file with a syntax error is not changed", async () => {
    const file = writeConfig("{ nope");
    expect((await thrownBy(() => editConfig(file, "gateway.port", 1))).code).toBe("config_syntax");
    expect(readFileSync(file, "utf8")).toBe("{ nope");
  });
});

describe("the file", () => {
  test("a new file is readable by its owner only; an existing file keeps its mode", async () => {
    const file = join(temporary(), "deep", "config.jsonc");
    await editConfig(file, "gateway.port", 1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    const old = writeConfig({});
    await editConfig(old, "gateway.port", 1);
    expect(statSync(old).mode & 0o777).toBe(0o644);
  });

  test("a symbolic link stays a link, even if its target does not exist yet", async () => {
    const directory = temporary();
    mkdirSync(join(directory, "real"));
    const real = join(directory, "real", "config.jsonc");
    const link = join(directory, "config.jsonc");
    symlinkSync("real/config.jsonc", link);
    await editConfig(link, "gateway.port", 1);
    await editConfig(link, "gateway.port", 2);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ gateway: { port: 2 } });
  });

  test("concurrent edits all take effect", async () => {
    const file = writeConfig("{ /* keep */ }");
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => editConfig(file, `channels.chat.groups.-${index}.enabled`, true)),
    );
    const text = readFileSync(file, "utf8");
    for (let index = 0; index < 20; index += 1) expect(text).toContain(`"-${index}"`);
    expect(text).toContain("/* keep */");
    expect(readdirSync(dirname(file))).toEqual(["config.jsonc"]);
  });

  test("a change by another program between reading and writing is not lost", async () => {
    const file = writeConfig({ gateway: { port: 1 } });
    let once = true;
    const check = async () => {
      if (once) writeFileSync(file, JSON.stringify({ gateway: { port: 2 }, log: { level: "warn" } }));
      once = false;
      return [];
    };
    await editConfig(file, "gateway.port", 3, { env: {}, check });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ gateway: { port: 3 }, log: { level: "warn" } });
  });
});

describe("renaming a key", () => {
  const groups = `{
  "channels": { "chat": { "groups": {
    // the kitchen
    "-5": { "requireMention": false /* we talk to it */ }, // since spring
    "-6": {}
  } } }
}
`;
  const at = (key: string) => ["channels", "chat", "groups", key];

  test("keeps its value, its position and every comment", async () => {
    const file = writeConfig(groups);
    expect(await renameConfigKey(file, at("-5"), "-1005")).toEqual({ changed: true, problems: [] });
    expect(readFileSync(file, "utf8")).toBe(groups.replace('"-5"', '"-1005"'));
  });

  test("is refused if the key is missing, the name is taken, or the name is invalid", async () => {
    const file = writeConfig(groups);
    for (const [key, name] of [
      ["-7", "-1007"],
      ["-5", "-6"],
      ["-5", "__proto__"],
    ] as const)
      expect(await renameConfigKey(file, at(key), name)).toEqual({ changed: false, problems: [] });
    expect(await renameConfigKey(file, ["channels", "chat", "nothing", "-5"], "-1005")).toEqual({
      changed: false,
      problems: [],
    });
    expect(readFileSync(file, "utf8")).toBe(groups);
  });
});

test("a file that cannot be written is reported as such, not as unreadable", async () => {
  // The name of the temporary file beside it is too long, because root may write everywhere.
  const file = join(temporary(), `${"c".repeat(245)}.jsonc`);
  writeFileSync(file, "{}");
  const error = await thrownBy(() => editConfig(file, "log.level", "debug", { env: {} }));
  expect(error).toMatchObject({ code: "config_not_written", hint: expect.stringContaining("free space") });
  expect(error.message).toMatch(/cannot be written: ENAMETOOLONG/);
  expect(readFileSync(file, "utf8")).toBe("{}");
});

test("a file that other programs keep changing is not reported as a disk problem", async () => {
  const file = join(temporary(), "config.jsonc");
  let writes = 0;
  const check = async () => {
    writes += 1;
    writeFileSync(file, `{} // ${writes}`);
    return [];
  };
  const error = await thrownBy(() => editConfig(file, "log.level", "debug", { env: {}, check }));
  expect(error).toMatchObject({
    code: "config_not_written",
    hint: "Try again when they have finished. Nothing was changed.",
  });
});
