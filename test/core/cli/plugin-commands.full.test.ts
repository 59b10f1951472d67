/** Commands that plugins bring, in a process of the command line. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { programCommand } from "../../../core/contract/command.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { run, temporaryHome } from "./command.ts";
import { run as runShared } from "./command-runner.ts";

test("a hanging command is ended with its plugin's name, even with open handles; a long one is not", async () => {
  const home = temporaryHome();
  mkdirSync(join(home, "slow"));
  writeFileSync(
    join(home, "slow", "index.ts"),
    `import { definePlugin } from "service-gateway/sdk";
    const command = (name: string, more: object) => ({ name, summary: "Waits.", example: name, ...more });
    const hang = () => new Promise<never>(() => void setInterval(() => {}, 1_000));
    const wait = () => new Promise((resolve) => setTimeout(() => resolve({ lines: ["done"], data: null }), 1_500));
    export default definePlugin({ id: "slow", version: "1.0.0", host: "^0.2.0", setup() {}, cli: { name: "slow", summary: "Waits.", commands: [
      command("hang", { timeoutSeconds: 1, run: hang }),
      command("wait", { timeoutSeconds: 0, run: wait }),
    ] } } as never);`,
  );
  const store = await openSqliteStore({ directory: join(home, "state"), now: Date.now });
  await store.begin(1);
  await store.close();
  const file = join(home, "config.jsonc");
  writeFileSync(file, JSON.stringify({ state: { dir: "state" }, plugins: { load: ["./slow"] } }));
  const [hung, asData, waited] = await Promise.all([
    run(["slow", "hang", "--config", file], { home }),
    run(["slow", "hang", "--json", "--config", file], { home }),
    run(["slow", "wait", "--config", file], { home }),
  ]);
  expect(hung.code).toBe(1);
  expect(hung.err).toContain(`The plugin slow did not answer at ${programCommand} slow hang within 1 s.`);
  expect(JSON.parse(asData.out)).toMatchObject({ ok: false, code: "plugin_tap_timeout" });
  expect(asData.code).toBe(1);
  expect(waited).toMatchObject({ code: 0, out: "done\n" });
});

describe("a plugin in JavaScript", () => {
  function configured(plugins: Readonly<Record<string, string>>) {
    const home = temporaryHome();
    for (const [id, code] of Object.entries(plugins)) {
      mkdirSync(join(home, id));
      writeFileSync(join(home, id, "index.js"), code);
    }
    const config = { state: { dir: "state" }, plugins: { load: Object.keys(plugins).map((id) => `./${id}`) } };
    writeFileSync(join(home, "config.jsonc"), JSON.stringify(config));
    return (...args: readonly string[]) => runShared([...args, "--config", join(home, "config.jsonc")], { home });
  }
  const withCommands = (id: string, commands: string) =>
    `export default { id: "${id}", version: "1.0.0", host: "^0.2.0", setup() {}, cli: { name: "${id}", ` +
    `commands: ${commands} } };`;

  test("with an invalid declaration does not hide other plugins' commands; an unknown command names it", async () => {
    const command = '{ name: "list", run: () => ({ lines: ["listed"] }) }';
    const failing = '{ name: "fail", run: () => ({ lines: ["The list is empty."], failed: true }) }';
    const call = configured({
      twice: withCommands("twice", `[${command}, ${command}]`),
      fine: withCommands("fine", `[${command}, ${failing}]`),
    });
    expect(await call("fine", "list")).toEqual({ code: 0, out: "listed\n", err: "" });
    expect(await call("fine", "list", "--json")).toMatchObject({ code: 0, out: "null\n" });
    expect(JSON.parse((await call("fine", "fail", "--json")).out)).toMatchObject({
      ok: false,
      error: "The list is empty.",
    });
    const { code, err } = await call("twice", "list");
    expect(code).toBe(2);
    expect(err).toContain(
      "The declaration of the plugin twice is invalid: its cli twice has the command list twice.\n",
    );
    expect(err).toContain("Unknown command 'twice'");
  });

  test("with an invalid result is named with the problem; an option may begin with `no` and take a value", async () => {
    const call = configured({
      odd: withCommands(
        "odd",
        `[{ name: "text", run: () => "done" }, { name: "letters", run: () => ({ lines: "done", data: {} }) },
          { name: "options", options: [{ name: "no-cache", value: "days", summary: "S." }, { name: "no-wait", summary: "S." }],
            run: ({ options }) => ({ lines: [JSON.stringify(options)], data: {} }) }]`,
      ),
    });
    const says = (what: string) =>
      expect.stringContaining(`The plugin odd returned an invalid value at ${programCommand} odd ${what}`);
    expect(await call("odd", "text")).toMatchObject({ code: 1, err: says("text: a value of type string.") });
    expect(await call("odd", "letters")).toMatchObject({
      code: 1,
      err: says("letters: lines are not a list of texts and of rows."),
    });
    expect((await call("odd", "options", "--no-cache", "5", "--no-wait")).out).toBe(
      '{"no-cache":"5","no-wait":true}\n',
    );
    expect((await call("odd", "options")).out).toBe("{}\n");
  });
});
