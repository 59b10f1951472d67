import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pluginKinds } from "../../../core/cli/plugins/commands.ts";
import { ownCopy } from "../../../core/cli/plugins/own-copy.ts";
import { checkPluginName } from "../../../core/cli/plugins/plugin-name.ts";
import { hooksSchema } from "../../../core/config/schema/hooks.ts";
import { reservedPaths } from "../../../core/webhooks/mapping/check-mapping.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

async function create(name: string, ...more: readonly string[]) {
  const home = temporaryHome();
  const folder = join(home, "made");
  const { code, out, err } = await run(["plugins", "create", name, "--dir", folder, ...more], { home });
  return { home, folder, code, out, err };
}

describe("plugins create", () => {
  test.each(pluginKinds)("uses the name in the package, the id and the page of a %s", async (kind) => {
    const { code, folder } = await create("acme-chat", "--kind", kind);
    expect(code).toBe(0);
    const read = (path: string) => readFileSync(join(folder, path), "utf8");
    const { name, exports, engines, peerDependencies, scripts } = JSON.parse(read("package.json"));
    expect({ name, engines, peerDependencies }).toMatchObject({
      name: "acme-chat",
      engines: { node: expect.stringContaining("24") },
      peerDependencies: { "service-gateway": expect.stringMatching(/^\^/) },
    });
    expect(Object.keys(scripts)).toEqual(["dev", "test", "check"]);
    expect(existsSync(join(folder, exports))).toBe(true);
    if (kind !== "transform") expect(read(exports)).toContain('id: "acme-chat"');
    expect(read("README.md")).toMatch(/^# Acme chat\n/);
    expect(existsSync(join(folder, ".github", "workflows", "ci.yml"))).toBe(true);
    expect(read(".editorconfig")).toContain("indent_size = 2");
    const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (path) => /\.\w+$/.test(path) && path !== ".github",
    );
    for (const path of all) expect(read(path)).not.toMatch(/\{\{[a-z]+\}\}/);
  });

  test("says what it wrote and what to run next, as JSON on request", async () => {
    const { out } = await create("acme-chat", "--kind", "channel");
    expect(out).toMatch(/^Created the channel acme-chat in \S+made:\n/);
    // The tests run the program from its source, which a new package cannot install from the registry.
    expect(out).toMatch(
      /\n {2}cd \S+\n {2}npm install --save-dev FILE\n {2}npm test\n\nFILE is what `npm pack` writes in \//,
    );
    const { out: data, folder } = await create("acme-chat", "--kind", "plugin", "--json");
    expect(JSON.parse(data)).toMatchObject({
      id: "acme-chat",
      kind: "plugin",
      directory: folder,
      files: expect.arrayContaining(["package.json"]),
    });
  });

  test("mentions a bundled plugin of the same name that is not loaded by default", async () => {
    const { code, out } = await create("irc", "--kind", "channel", "--transport", "lines");
    expect(code).toBe(0);
    expect(out).toContain("service-gateway comes with a plugin irc already, in plugins/irc.");
    expect((await create("acme-chat", "--kind", "channel")).out).not.toContain("comes with");
  });

  test("names the file that the program was installed from, as npm recorded it", () => {
    const home = temporaryHome();
    const modules = join(home, "node_modules");
    const copy = join(modules, "service-gateway");
    mkdirSync(copy, { recursive: true });
    expect(ownCopy(copy)).toBe("registry");
    const record = (resolved: string) =>
      writeFileSync(
        join(modules, ".package-lock.json"),
        JSON.stringify({ packages: { "node_modules/service-gateway": { resolved } } }),
      );
    record("https://registry.npmjs.org/service-gateway/-/service-gateway-0.1.0.tgz");
    expect(ownCopy(copy)).toBe("registry");
    record("file:service-gateway-0.1.0.tgz");
    expect(ownCopy(copy)).toBe("registry");
    writeFileSync(join(home, "service-gateway-0.1.0.tgz"), "");
    expect(ownCopy(copy)).toEqual({ tarball: join(home, "service-gateway-0.1.0.tgz") });
  });

  test("creates a channel with requests or lines as requested; no other kind has a transport", async () => {
    const filesOf = async (...more: readonly string[]) => {
      const { out } = await create("acme-chat", "--kind", "channel", "--json", ...more);
      return (JSON.parse(out) as { readonly files: readonly string[] }).files.filter((path) => path.startsWith("src/"));
    };
    expect(await filesOf("--transport", "lines")).toEqual(["src/index.ts", "src/options.ts", "src/protocol.ts"]);
    const polling = await filesOf("--transport", "poll");
    expect(polling).toContain("src/api.ts");
    expect(await filesOf()).toEqual(polling);
    expect(await create("acme-chat", "--kind", "engine", "--transport", "lines")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--transport is for channels"),
    });
  });

  test.each([
    ["Acme", "beginning with a letter, such as acme-chat"],
    ["acme--chat", "use at most 64 of a to z"],
    ["../acme", "use at most 64 of a to z"],
    ["echo", "a bundled plugin uses it"],
    ["http", "a Node module uses it"],
    ["hooks", "the gateway uses it itself"],
  ])("rejects the name %s in one sentence and writes nothing", async (name, reason) => {
    const { code, err, folder } = await create(name, "--kind", "channel");
    expect(code).toBe(2);
    expect(err).toMatch(new RegExp(`^error: "${name}" cannot be the name of a plugin: .*${reason}`));
    expect(existsSync(folder)).toBe(false);
  });

  test("rejects a preset named like a gateway endpoint or a hooks key, which would hide its deliveries", () => {
    // Keys of presets that a bundled plugin brings.
    const ofMail = ["gmail", "imap"];
    const own = [...reservedPaths, ...Object.keys(hooksSchema.properties)].filter(
      (name) => /^[a-z]+$/.test(name) && !ofMail.includes(name),
    );
    expect(own).toContain("agent");
    for (const name of own) {
      expect(() => checkPluginName(name, "preset"), name).toThrow(`"${name}" cannot be the name of a plugin: `);
      if (name !== "path") expect(() => checkPluginName(name, "engine"), name).not.toThrow();
    }
  });

  test("rejects an unknown or missing kind as wrong usage", async () => {
    expect(await create("acme-chat", "--kind", "bot")).toMatchObject({
      code: 2,
      err: expect.stringContaining("channel, engine, preset"),
    });
    expect(await create("acme-chat")).toMatchObject({ code: 2, err: expect.stringContaining("--kind") });
  });

  test("uses an empty folder and leaves a non-empty one unchanged", async () => {
    const home = temporaryHome();
    const folder = join(home, "made");
    mkdirSync(folder);
    const again = () => run(["plugins", "create", "acme-chat", "--kind", "plugin", "--dir", folder], { home });
    expect((await again()).code).toBe(0);
    const before = readdirSync(folder).sort();
    expect(before).not.toContainEqual(expect.stringMatching(/^\.made/));
    writeFileSync(join(folder, "README.md"), "Mine.");
    expect(await again()).toMatchObject({
      code: 1,
      err: `error: No plugin was created in ${folder}: it is not empty.\n       Pass another folder with --dir.\n`,
    });
    expect(readdirSync(folder).sort()).toEqual(before);
    expect(readFileSync(join(folder, "README.md"), "utf8")).toBe("Mine.");
  });

  test("leaves nothing behind if it cannot write", async () => {
    const home = temporaryHome();
    // A file where a folder is needed stops the superuser too.
    writeFileSync(join(home, "file"), "");
    const { code, err } = await run(
      ["plugins", "create", "acme-chat", "--kind", "plugin", "--dir", join(home, "file", "made")],
      { home },
    );
    expect([code, err]).toEqual([1, expect.stringMatching(/^error: The plugin in \S+made was not created: /)]);
    expect(readdirSync(home)).toEqual(["file"]);
  });

  test("creates a folder that plugins.load accepts before anything is installed", async () => {
    const { home, folder } = await create("acme-alerts", "--kind", "preset");
    const config = join(home, "config.jsonc");
    writeFileSync(config, JSON.stringify({ plugins: { load: ["./made"] }, hooks: { presets: ["acme-alerts"] } }));
    const { out } = await run(["plugins", "list", "--config", config], { home });
    expect(out).toMatch(/✓ +acme-alerts +0\.1\.0 +yours +ready/);
    expect(existsSync(join(folder, "node_modules"))).toBe(false);
  });
});
