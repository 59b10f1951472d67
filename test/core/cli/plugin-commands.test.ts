/** Commands that plugins bring, in a process of the command line. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programCommand } from "../../../core/contract/command.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { run, temporaryHome } from "./command.ts";

test("a command that hangs is ended with its plugin's name, whatever it still holds; one that may run for long does", async () => {
  const home = temporaryHome();
  mkdirSync(join(home, "slow"));
  writeFileSync(
    join(home, "slow", "index.ts"),
    `import { definePlugin } from "service-gateway/sdk";
    const command = (name: string, more: object) => ({ name, summary: "Waits.", example: name, ...more });
    const hang = () => new Promise<never>(() => void setInterval(() => {}, 1_000));
    const wait = () => new Promise((resolve) => setTimeout(() => resolve({ lines: ["done"], data: null }), 1_500));
    export default definePlugin({ id: "slow", version: "1.0.0", host: "^0.1.0", setup() {}, cli: { name: "slow", summary: "Waits.", commands: [
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
