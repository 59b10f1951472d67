import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./desk.ts";

/** The folder of a plugin whose `setup` does what the text says. */
function pluginThat(does: string, more = ""): { readonly home: string; readonly folder: string } {
  const home = temporaryHome();
  const folder = join(home, "guest");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "index.ts"),
    `import { definePlugin, Type } from "service-gateway/sdk";
export default definePlugin({ id: "guest", version: "1.2.0", host: "^0.1.0", ${more} setup(host, options) { ${does} } });\n`,
  );
  return { home, folder };
}

test("a plugin that comes up is shown with what it takes part in, and nothing is left of the trial", async () => {
  const { home, folder } = pluginThat(
    `host.tap("settled", () => {}); host.route({ method: "GET", path: "counts", access: "gateway", handler: async () => ({ body: {} }) });`,
  );
  const trials = () => readdirSync(tmpdir()).filter((name) => name.startsWith("service-plugin-"));
  const before = trials();
  const { code, out, err } = await run(["plugins", "check", folder], { home });
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^✓ +guest +1\.2\.0 +yours +up/);
  expect(out).toContain("takes part in settled");
  expect(out).toContain("GET /plugins/guest/counts (gateway)");
  expect(trials()).toEqual(before);
  expect(readdirSync(home)).toEqual(["guest"]);
});

test("one that fails in its setup is told with the reason, and is exit code 1", async () => {
  const { home, folder } = pluginThat('throw new Error("no such mailbox");');
  const { code, out } = await run(["plugins", "check", folder], { home });
  expect(code).toBe(1);
  expect(out).toMatch(/^✗ +guest .*failed in setup: no such mailbox/);
});

test("options are checked by the plugin's schema, and handed to its setup", async () => {
  const { home, folder } = pluginThat(
    'if (options.size > 5) throw new Error("larger than the room"); host.tap("settled", () => {});',
    "options: Type.Object({ size: Type.Integer() }),",
  );
  const check = async (...more: readonly string[]) => await run(["plugins", "check", folder, ...more], { home });
  expect((await check()).out).toContain("plugins.entries.guest.options.size");
  expect(await check("--options", '{ "size": 9 }')).toMatchObject({ code: 1, out: expect.stringContaining("larger than the room") });
  const { code, out } = await check("--options", '{ "size": 3 }', "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ id: "guest", version: "1.2.0", state: "up", taps: ["settled"] });
  expect(await check("--options", "size=3")).toMatchObject({ code: 2, err: expect.stringContaining("--options is not JSON") });
});

test("what is not there, and what is no plugin, is told in a sentence", async () => {
  const { home, folder } = pluginThat("");
  writeFileSync(join(folder, "index.ts"), "export default { id: 'guest' };\n");
  expect(await run(["plugins", "check", folder], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining(" is invalid: "),
  });
  expect(await run(["plugins", "check", "./nowhere"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot be found"),
  });
});
