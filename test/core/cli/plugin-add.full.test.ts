/** `plugins add`, `remove` and `outdated`, with the npm of this machine and a registry on it. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNpmRegistry, type NpmRegistry } from "../../support/npm-registry.ts";
import { integrityOf, type PluginPackage, pluginTarball, tarOf } from "../../support/tarball.ts";
import { hasTerminal, openTerminal } from "../../support/terminal.ts";
import { type Finished, run as runAlone, start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

interface Place {
  readonly home: string;
  readonly registry: NpmRegistry;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string>>;
  plugins(...args: readonly string[]): Promise<Finished>;
  config(): string;
  /** Folders in the folder of installed plugins. */
  folders(): readonly string[];
  lock(): Readonly<Record<string, { readonly version: string; readonly integrity: string; readonly from: string }>>;
}

async function openPlace(config = "{}\n"): Promise<Place> {
  const home = temporaryHome();
  const registry = await createNpmRegistry();
  onTestFinished(() => registry.close());
  const directory = join(home, "my gateway");
  mkdirSync(directory);
  const configFile = join(directory, "config.jsonc");
  writeFileSync(configFile, config);
  const env = { npm_config_registry: registry.url, npm_config_cache: join(home, "npm-cache") };
  const installed = join(directory, "installed-plugins");
  return {
    ...{ home, registry, configFile, env },
    plugins: (...args) => run(["plugins", ...args, "--config", configFile], { home, env }),
    config: () => readFileSync(configFile, "utf8"),
    folders: () =>
      existsSync(installed)
        ? readdirSync(installed, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? one.name : []))
        : [],
    lock: () => JSON.parse(readFileSync(join(installed, "plugins-lock.json"), "utf8")).plugins,
  };
}

function fileOf({ home }: Place, plugin: PluginPackage, name = `${plugin.name}.tgz`): string {
  const file = join(home, name);
  writeFileSync(file, pluginTarball(plugin));
  return file;
}

test("a plugin of the registry is added, updated, looked up and removed; comments stay", async () => {
  const text = '{\n  // mine\n  "plugins": {\n    "load": [], // none yet\n  },\n}\n';
  const place = await openPlace(text);
  const first = pluginTarball({ name: "@acme/chat", setup: 'host.tap("settled", () => {});' });
  place.registry.publish(first);
  const added = await place.plugins("add", "@acme/chat", "--yes");
  expect(added).toMatchObject({ code: 0, err: expect.stringContaining("Asking the registry for @acme/chat ...") });
  expect(added.out).toMatch(/package +@acme\/chat 1\.0\.0\nlicence +MIT\nsize +\d+ bytes, no libraries\n/);
  expect(added.out).toMatch(/imports +service-gateway\/sdk\nof Node +fs\n/);
  expect(added.out).toContain("takes part in settled\n");
  expect(place.config()).toBe(text.replace("[]", '[\n      "@acme/chat"\n    ]'));
  expect(place.lock()).toMatchObject({
    "@acme/chat": { version: "1.0.0", integrity: integrityOf(first), from: "registry" },
  });
  expect((await place.plugins("list")).out).toMatch(/✓ +chat +1\.0\.0 +yours +ready/);

  const before = [place.config(), JSON.stringify(place.lock()), ...place.folders()];
  expect(await place.plugins("add", "@acme/chat", "--yes")).toMatchObject({
    code: 0,
    out: "@acme/chat 1.0.0 is installed already; nothing was changed.\n",
  });
  expect([place.config(), JSON.stringify(place.lock()), ...place.folders()]).toEqual(before);
  expect((await place.plugins("outdated")).out).toMatch(/^@acme\/chat +1\.0\.0 +is the latest\n$/);

  place.registry.publish(pluginTarball({ name: "@acme/chat", version: "1.1.0" }));
  expect(await place.plugins("outdated")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/1\.1\.0 is available\n\nTo update: `\S.* plugins add @acme\/chat`\n/),
  });
  const updated = await place.plugins("add", "@acme/chat", "--yes", "--json");
  expect(JSON.parse(updated.out)).toMatchObject({ ok: true, changed: true, before: "1.0.0", version: "1.1.0" });
  expect(place.folders()).toEqual([expect.stringMatching(/^@acme\+chat-1\.1\.0-/)]);
  expect((await place.plugins("list")).out).toMatch(/✓ +chat +1\.1\.0/);

  const entries = ', "entries": { "chat": { "enabled": true } }';
  writeFileSync(place.configFile, place.config().replace("], //", `]${entries}, //`));
  expect(await place.plugins("remove", "@acme/chat")).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^Removed @acme\/chat 1\.1\.0 .*\nThe configuration still names it.*\n {2}plugins\.entries\.chat\n$/,
    ),
  });
  expect(place.config()).toBe(text.replace("[]", `[\n    ]${entries}`));
  expect([place.lock(), place.folders()]).toEqual([{}, []]);
  expect(await place.plugins("remove", "@acme/chat")).toMatchObject({
    code: 1,
    err: expect.stringContaining("has not added a plugin @acme/chat"),
  });
}, 60_000);

test("no script of a package runs, whatever the user's npm allows", async () => {
  const place = await openPlace();
  writeFileSync(join(place.home, ".npmrc"), "ignore-scripts=false\nglobal=true\ndangerously-allow-all-scripts=true\n");
  const mark = join(place.home, "script-ran");
  const scripts = Object.fromEntries(
    ["preinstall", "install", "postinstall", "prepare", "prepack"].map((name) => [name, `touch '${mark}'`]),
  );
  place.registry.publish(pluginTarball({ name: "acme-lib", manifest: { scripts } }));
  const plugin = { name: "acme-chat", manifest: { scripts, dependencies: { "acme-lib": "^1.0.0" } } };
  const added = await place.plugins("add", fileOf(place, plugin), "--yes");
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining("with acme-lib 1.0.0") });
  expect(added.out).toMatch(/not run +the install scripts of .*acme-lib/);
  const folder = join(place.home, "folder of sources");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "other", version: "1.0.0", scripts }));
  expect((await place.plugins("add", folder, "--yes")).err).toMatch(/The package other is refused: it is not a plugin/);
  expect(existsSync(mark)).toBe(false);
}, 60_000);

test("what is not a plugin, does not start, or takes a name of another one is refused", async () => {
  const place = await openPlace('{ "plugins": { "load": ["./mine.ts"] } }\n');
  writeFileSync(
    join(dirname(place.configFile), "mine.ts"),
    'import { definePlugin } from "service-gateway/sdk";\n' +
      'export default definePlugin({ id: "mine", version: "1.0.0", host: "^0.2.0", setup() {} });\n',
  );
  const refusal = async (plugin: PluginPackage, isAlone = false) => {
    const args = ["add", fileOf(place, plugin), "--yes"];
    const alone = () => runAlone(["plugins", ...args, "--config", place.configFile], place);
    const { code, out, err } = await (isAlone ? alone() : place.plugins(...args));
    expect(code).toBe(1);
    return out + err;
  };
  expect(await refusal({ name: "mine" })).toContain(
    "its id mine is taken by the plugin mine, which plugins.load names",
  );
  expect(await refusal({ name: "botchat" })).toContain("is taken by a plugin that comes with this program");
  expect(await refusal({ name: "acme", manifest: { exports: "./none.js" } })).toMatch(/not a plugin.*does not exist/);
  expect(await refusal({ name: "acme", setup: 'throw new Error("no such mailbox");' })).toContain("no such mailbox");
  expect(await refusal({ name: "acme", setup: "process.exit(0);" }, true)).toContain("ended the process");
  expect(await refusal({ name: "acme", more: 'host: "^0.9.0",' })).toMatch(/SDK \^0\.9\.0/);
  expect(await refusal({ name: "acme", manifest: { peerDependencies: { "service-gateway": ">=99" } } })).toMatch(
    /requires service-gateway >=99/,
  );
  expect(await refusal({ name: "acme", others: [{ path: "package/../../../escaped.js" }] })).toMatch(/leads out/);
  expect(await refusal({ name: "acme", manifest: { exports: undefined } })).toMatch(
    /requires|not a plugin|definePlugin|index/,
  );
  expect(existsSync(join(place.home, "escaped.js"))).toBe(false);
  expect(place.config()).toBe('{ "plugins": { "load": ["./mine.ts"] } }\n');
  expect(readdirSync(dirname(place.configFile)).sort()).toEqual(["config.jsonc", "mine.ts"]);
}, 90_000);

test("a content that is not the recorded one is refused, also where the registry has changed its mind", async () => {
  const place = await openPlace();
  const changed = pluginTarball({ name: "acme-chat", setup: "globalThis.changed = true;" });
  place.registry.publish(pluginTarball({ name: "acme-chat" }));
  place.registry.replace("acme-chat", "1.0.0", changed, { recorded: false });
  const tampered = await place.plugins("add", "acme-chat", "--yes");
  expect(tampered).toMatchObject({ code: 1, err: expect.stringContaining("integrity mismatch") });
  expect([place.config(), existsSync(join(dirname(place.configFile), "installed-plugins"))]).toEqual(["{}\n", false]);

  const second = await openPlace();
  second.registry.publish(pluginTarball({ name: "acme-chat" }));
  expect((await second.plugins("add", "acme-chat", "--yes")).code).toBe(0);
  second.registry.replace("acme-chat", "1.0.0", changed, { recorded: true });
  const kept = JSON.stringify(second.lock());
  expect(await second.plugins("add", "acme-chat", "--yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("another content under this version"),
  });
  expect(JSON.stringify(second.lock())).toBe(kept);
}, 60_000);

test("a kill at any step leaves the configuration as it was, and the command works when it is run again", async () => {
  const place = await openPlace();
  const plugin = { name: "acme-chat", setup: "return new Promise((resolve) => setTimeout(resolve, 1500));" };
  place.registry.publish(pluginTarball(plugin));
  for (const step of [/Asking/, /Downloading/, /Installing/, /Checking/]) {
    const release = step.source === "Downloading" ? place.registry.holdTarballs() : () => {};
    const args = ["plugins", "add", "acme-chat", "--yes", "--config", place.configFile];
    const killed = start(args, { home: place.home, env: place.env });
    await killed.until(step);
    killed.child.kill(step.source === "Installing" ? "SIGTERM" : "SIGKILL");
    expect((await killed.finished).code).not.toBe(0);
    release();
    expect(place.config()).toBe("{}\n");
  }
  expect((await place.plugins("list")).code).toBe(0);
  expect((await place.plugins("add", "acme-chat", "--yes")).code).toBe(0);
  expect(place.folders()).toEqual([expect.stringMatching(/^acme-chat-1\.0\.0-/)]);

  // As if it had been killed between its two last steps.
  writeFileSync(place.configFile, "{}\n");
  expect((await place.plugins("add", "acme-chat", "--yes")).out).toMatch(/^acme-chat 1\.0\.0 is in plugins\.load of /);
  expect(place.config()).toContain('"load": ["acme-chat"]');
}, 90_000);

test("an added plugin can be read by those who read the configuration", async () => {
  const place = await openPlace();
  chmodSync(dirname(place.configFile), 0o750);
  await place.plugins("add", fileOf(place, { name: "acme-chat" }), "--yes");
  const installed = join(dirname(place.configFile), "installed-plugins");
  const modeOf = (path: string) => statSync(join(installed, path)).mode & 0o777;
  const [folder = ""] = place.folders();
  expect([modeOf(""), modeOf(folder), modeOf("plugins-lock.json")]).toEqual([0o750, 0o750, 0o640]);
});

test("a plugin that needs options is added, and the command says which", async () => {
  const place = await openPlace();
  const more = "options: Type.Object({ size: Type.Integer({ description: 'Its size.' }) }),";
  const { code, out } = await place.plugins("add", fileOf(place, { name: "sized", more }), "--yes");
  expect([code, out]).toEqual([
    0,
    expect.stringContaining("Before it starts, set plugins.entries.sized.options.size."),
  ]);
});

test("without npm, without a registry, and for a name that it does not have, there is one sentence", async () => {
  const place = await openPlace();
  const only = join(place.home, "bin");
  mkdirSync(only);
  symlinkSync(process.execPath, join(only, "node"));
  const args = ["plugins", "add", "acme-chat", "--yes", "--config", place.configFile];
  const add = (env: Readonly<Record<string, string>>) => run(args, { home: place.home, env: { ...place.env, ...env } });
  expect((await add({ PATH: only })).err).toMatch(/error: npm, which installs plugins, is not on this machine\.\n/);
  expect((await add({ npm_config_registry: "http://127.0.0.1:1/" })).err).toMatch(
    /error: npm could not ask the registry for acme-chat: the registry cannot be reached\.\n/,
  );
  expect((await add({})).err).toMatch(/the registry has no package acme-chat\.\n/);
  place.registry.publish(pluginTarball({ name: "acme-chat" }));
  expect((await place.plugins("add", "acme-chat@9.9.9", "--yes")).err).toMatch(/no such version of acme-chat/);
  expect(await place.plugins("add", "--yes", "--", "--registry=http://example.com")).toMatchObject({ code: 2 });
  expect(JSON.parse((await place.plugins("add", "acme chat", "--json")).out)).toMatchObject({
    ok: false,
    code: "usage",
  });
}, 60_000);

test("without a terminal it asks for --yes, and --dry-run shows what it is without running its code", async () => {
  const place = await openPlace();
  const mark = join(place.home, "code-ran");
  const setup = `process.getBuiltinModule("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`;
  const file = fileOf(place, { name: "acme-chat", setup }, "a 'file' with spaces.tgz");
  expect(await place.plugins("add", file)).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect(await place.plugins("add", file, "--dry-run")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^package +acme-chat 1\.0\.0\n[\s\S]*Nothing was changed/),
  });
  expect([place.config(), existsSync(mark)]).toEqual(["{}\n", false]);
  expect((await place.plugins("add", file, "--yes")).code).toBe(0);
  expect([place.lock()["acme-chat"]?.from, existsSync(mark)]).toEqual(["a 'file' with spaces.tgz", true]);
}, 60_000);

test.runIf(hasTerminal)(
  "on a terminal it asks before the code of the plugin runs",
  async () => {
    const place = await openPlace();
    const file = fileOf(place, { name: "acme-chat" });
    const add = () => openTerminal(["plugins", "add", file, "--config", place.configFile], place);
    const no = add();
    await no.until(/and add it\? \[y\/N\]: /);
    no.type("n\r");
    expect(await no.finished).toMatchObject({ code: 1, out: expect.stringContaining("Nothing was changed.") });
    expect(place.config()).toBe("{}\n");
    const yes = add();
    await yes.until(/and add it\? \[y\/N\]: /);
    yes.type("y\r");
    expect(await yes.finished).toMatchObject({ code: 0, out: expect.stringContaining("Added acme-chat 1.0.0") });
  },
  60_000,
);

test("a file of an added plugin that is gone is an error with what to do, and add repairs it", async () => {
  const place = await openPlace();
  const file = fileOf(place, { name: "acme-chat" });
  await place.plugins("add", file, "--yes");
  const [folder = ""] = place.folders();
  rmSync(join(dirname(place.configFile), "installed-plugins", folder, "node_modules"), { recursive: true });
  expect((await place.plugins("list")).out).toMatch(/✗ +acme-chat .*plugins add` installs it again/);
  expect((await place.plugins("add", file, "--yes")).code).toBe(0);
  expect((await place.plugins("list")).out).toMatch(/✓ +acme-chat/);
}, 60_000);

test("npm unpacks what was checked, and nothing that an archive hides from the check", async () => {
  const place = await openPlace();
  const hidden = tarOf([{ path: "package/hidden.js" }, { path: "package/node_modules/other/hidden.js" }]);
  // npm passes over the header of a file with a target, and goes on with what it takes for the next header.
  const others = [{ path: "package/note.txt", link: "x", text: hidden }];
  expect((await place.plugins("add", fileOf(place, { name: "acme-chat", others }), "--yes")).code).toBe(0);
  const [folder = ""] = place.folders();
  const installed = join(dirname(place.configFile), "installed-plugins", folder, "node_modules", "acme-chat");
  expect(readdirSync(installed).sort()).toEqual(["index.ts", "note.txt", "package.json"]);
}, 60_000);

test("plugins check takes a tarball", async () => {
  const place = await openPlace();
  const check = (plugin: PluginPackage) => place.plugins("check", fileOf(place, plugin));
  expect((await check({ name: "acme-chat" })).out).toMatch(/^✓ +acme-chat +1\.0\.0 +yours +up/);
  expect((await check({ name: "acme-chat", setup: 'throw new Error("no such mailbox");' })).out).toMatch(
    /no such mailbox/,
  );
  expect((await check({ name: "acme-chat", others: [{ path: "/etc/x" }] })).err).toMatch(/its path is absolute/);
}, 60_000);
