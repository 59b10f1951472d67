/** What a command of a plugin is handed: options, its section of the configuration, files, the terminal, signals. */
import { execFile } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundled, inherited, start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

/** A plugin `notes` with a preset of that name, whose commands are given as text. */
function homeWith(commands: string, config: string = '{ "plugins": { "load": ["./notes"] } }'): string {
  const home = temporaryHome();
  const folder = join(home, ".service", "notes");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "index.ts"),
    `import { definePlugin } from "service-gateway/sdk";
    const say = (lines: unknown, data: unknown = null) => ({ lines, data });
    const command = (name: string, run: unknown, more: object = {}) => ({ name, summary: "Does it.", example: name, run, ...more });
    export default definePlugin({ id: "notes", version: "1.0.0", host: "^0.2.0", setup() {},
      presets: [{ id: "notes", path: "notes", mappings: [{ messageTemplate: "{{ text }}", sessionKey: "hook:notes:{{ id }}" }] }],
      cli: { name: "notes", summary: "Look at notes.", groups: { box: "Boxes of notes." }, commands: [${commands}] } } as never);`,
  );
  writeFileSync(join(home, ".service", "config.jsonc"), config, { mode: 0o600 });
  return home;
}

const configOf = (home: string) => readFileSync(join(home, ".service", "config.jsonc"), "utf8");

test("options reach the plugin by name as texts, flags, choices and lists; a command may have two words", async () => {
  const options = `{ options: [
    { name: "mode", value: "mode", summary: "how", choices: ["poll", "push"] },
    { name: "tag", value: "tag", summary: "a tag", repeatable: true },
    { name: "dry-run", summary: "only say it" },
    { name: "no-browser", summary: "open nothing" },
    { name: "name", value: "name", summary: "who", required: true },
  ] }`;
  const home = homeWith(`command("box list", ({ options }) => say([JSON.stringify(options)], options), ${options})`);
  const all = ["--name", "a", "--mode", "push", "--tag", "x", "--tag", "y", "--dry-run", "--no-browser"];
  expect(JSON.parse((await run(["notes", "box", "list", ...all, "--json"], { home })).out)).toEqual({
    name: "a",
    mode: "push",
    tag: ["x", "y"],
    "dry-run": true,
    "no-browser": true,
  });
  expect((await run(["notes", "box", "list", "--name", "a"], { home })).out).toBe('{"name":"a"}\n');
  expect(await run(["notes", "box", "list", "--name", "a", "--mode", "pull"], { home })).toMatchObject({ code: 2 });
  expect(await run(["notes", "box", "list"], { home })).toMatchObject({
    code: 2,
    err: expect.stringContaining("--name"),
  });
  expect((await run(["notes", "box", "list", "--help"], { home })).out).toMatch(/--tag <tag> +a tag/);
  expect((await run(["notes", "--help"], { home })).out).toMatch(/box list +Boxes of notes\./);
});

test("a command edits only its own section, keeps comments, and cannot make the file invalid", async () => {
  const config = '{\n  // Mine.\n  "plugins": { "load": ["./notes"] },\n  "hooks": { "presets": ["notes"] }\n}\n';
  const set = (path: string, value: string) =>
    `async (call) => say([String(await call.preset("notes").set(${path}, ${value}))])`;
  const home = homeWith(
    `command("good", ${set('["model"]', '"local/small"')}),
     command("bad", ${set('["model"]', "7")}),
     command("foreign", async (call) => say([String(await call.preset("gmail").set([], {}))]))`,
    config,
  );
  expect(await run(["notes", "good"], { home })).toMatchObject({ code: 0, out: "true\n" });
  expect(await run(["notes", "good"], { home })).toMatchObject({ code: 0, out: "false\n" });
  const written = configOf(home);
  expect(written).toContain("// Mine.");
  expect(written).toContain('"notes": {');
  expect(await run(["notes", "bad"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("hooks.notes.model"),
  });
  expect(await run(["notes", "foreign"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("it declares no preset gmail"),
  });
  expect(configOf(home)).toBe(written);
});

test("enabling the hook server stores a token in an owner-only file and keeps existing settings", async () => {
  const home = homeWith(
    `command("on", async (call) => { const section = call.preset("notes"); const before = await section.hooks();
      const made = await section.enableHooks(); return say([], { before, made, after: await section.hooks(), token: await section.token() }); })`,
  );
  const first = JSON.parse((await run(["notes", "on", "--json"], { home })).out);
  const tokenFile = join(home, ".service", "hook-token");
  expect(first).toMatchObject({
    before: { enabled: false, hasToken: false, path: "/hooks/notes", answeredBy: "preset" },
    made: { changed: true, tokenFile },
    after: { enabled: true, hasToken: true },
  });
  expect(first.token).toBe(readFileSync(tokenFile, "utf8").trim());
  expect([statSync(tokenFile).mode & 0o777, statSync(join(home, ".service", "config.jsonc")).mode & 0o777]).toEqual([
    0o600, 0o600,
  ]);
  const text = configOf(home);
  expect(JSON.parse((await run(["notes", "on", "--json"], { home })).out).made).toEqual({ changed: false });
  expect(configOf(home)).toBe(text);
});

// Only root can give a folder away.
test.runIf(process.geteuid?.() === 0)("a token generated by root is readable by the gateway's user", async () => {
  const home = homeWith(`command("on", async (call) => say([], await call.preset("notes").enableHooks()))`);
  const state = join(home, "state");
  mkdirSync(state);
  const nobody = 65_534;
  chownSync(state, nobody, nobody);
  const config = join(home, ".service", "config.jsonc");
  const { tokenFile } = JSON.parse(
    (await run(["notes", "on", "--json", "--config", config, "--state", state], { home })).out,
  );
  expect(tokenFile).toBe(join(state, "hook-token"));
  expect(statSync(tokenFile)).toMatchObject({ uid: nobody, gid: nobody });
});

test("a session prefix that blocks every delivery of the preset is reported with its fix", async () => {
  const home = homeWith(
    `command("look", async (call) => say([], await call.preset("notes").hooks()))`,
    '{ "plugins": { "load": ["./notes"] }, "hooks": { "allowedSessionKeyPrefixes": ["hook:other:"] } }',
  );
  const { answeredBy, problem } = JSON.parse((await run(["notes", "look", "--json"], { home })).out);
  expect(answeredBy).toBe("preset");
  expect(problem).toEqual({
    reason: expect.stringContaining("does not begin with an allowed prefix"),
    fix: expect.stringContaining("hooks.allowedSessionKeyPrefixes"),
  });
});

test("a secret is stored in an owner-only file of the state directory and removed once", async () => {
  const home = homeWith(
    `command("keep", async (call) => say([await call.secretFiles.write("ada", "hidden")])),
     command("drop", async (call) => say([String(await call.secretFiles.remove("ada"))])),
     command("odd", async (call) => say([await call.secretFiles.write("../ada", "hidden")]))`,
  );
  const file = join(home, ".service", "secrets", "notes", "ada");
  expect((await run(["notes", "keep"], { home })).out).toBe(`${file}\n`);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["hidden", 0o600]);
  expect((await run(["notes", "drop"], { home })).out).toBe("true\n");
  expect((await run(["notes", "drop"], { home })).out).toBe("false\n");
  expect((await run(["notes", "odd"], { home })).code).toBe(1);
});

test("only a preparing command gets a store before the first start; wrong usage exits with 2", async () => {
  const home = homeWith(
    `command("plain", async (call) => say([String(await call.store.get("a"))])),
     command("first", async (call) => { await call.store.set("a", 1); return say(["kept"]); }, { prepares: true }),
     command("wrong", () => ({ lines: ["--from needs --to."], data: null, failed: "usage" })),
     command("lines", (call) => { call.say("one"); call.say(["two", "cells"]); return say(["three"], 3); })`,
  );
  expect(await run(["notes", "plain"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("does not contain any state yet"),
  });
  expect(await run(["notes", "first"], { home })).toMatchObject({ code: 0, out: "kept\n" });
  expect(await run(["notes", "plain"], { home })).toMatchObject({ code: 0, out: "1\n" });
  expect(await run(["notes", "wrong"], { home })).toMatchObject({
    code: 2,
    err: expect.stringContaining("--from needs --to."),
  });
  expect((await run(["notes", "lines"], { home })).out).toBe("one\ntwo  cells\nthree\n");
  expect((await run(["notes", "lines", "--json"], { home })).out).toBe("3\n");
});

test("a command that awaits its signal ends by itself on SIGTERM and has no terminal if none is attached", async () => {
  const home = homeWith(
    `command("wait", (call) => new Promise((resolve) => {
      const timer = setInterval(() => {}, 1_000);
      call.signal.addEventListener("abort", () => { clearInterval(timer); resolve(say(["stopped"])); });
      call.say(call.terminal === undefined ? "no terminal" : "terminal");
    }), { timeoutSeconds: 0 })`,
  );
  const waiting = start(["notes", "wait"], { home });
  await waiting.until(/no terminal/);
  waiting.child.kill("SIGTERM");
  expect(await waiting.finished).toMatchObject({ code: 0, out: "no terminal\nstopped\n" });
});

/** A terminal of its own for one command, by `script` of util-linux. */
const hasScript = await promisify(execFile)("script", ["--version"]).then(
  () => true,
  () => false,
);

test.skipIf(!hasScript)("a command on a terminal can prompt, and does not echo a password", async () => {
  const home = homeWith(
    `command("ask", async (call) => {
      const name = await call.terminal.ask("Name", "ada");
      const secret = await call.terminal.password("Password");
      return say([\`\${name} \${secret.length} \${await call.terminal.confirm("Sure?")}\`]);
    })`,
  );
  const { spawn } = await import("node:child_process");
  const child = spawn("script", ["-qec", `${process.execPath} ${bundled} notes ask`, "/dev/null"], {
    env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", ...inherited },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let shown = "";
  const answers: [RegExp, string][] = [
    [/Name \[ada\]: /, "grace\r"],
    [/Password: /, "very hidden\r"],
    [/Sure\? \[y\/N\]: /, "y\r"],
  ];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (answers[0]?.[0].test(shown)) child.stdin.write(answers.shift()?.[1] ?? "");
  });
  await new Promise((resolve) => child.on("close", resolve));
  expect(shown).toContain("grace 11 true");
  expect(shown).not.toContain("hidden");
});
