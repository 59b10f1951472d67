import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, aroundEach, beforeAll, describe, test } from "vitest";
import { pluginKinds } from "../../core/cli/plugins/commands.ts";
import { inherited, run, start, temporaryHome } from "../core/cli/command.ts";
import { answered, answers, botToken, openPlatform, people } from "../e2e/room.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { madeOf } from "../support/made.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { read, root, sources } from "./sources.ts";

aroundEach(inOwnTest);

/** Below `node_modules`, so that the package's libraries are found as in an installation. */
let directory: string;

/** What the build makes its directory of. */
const ofBuild = ["core", "plugins", ".ci", "tsconfig.json", "tsconfig.build.json", "package.json", "package-lock.json"];

/** As `npm run build` does. The types are checked by `npm run check`. */
function build(target: string): void {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json"), "--noCheck", "--outDir", target], { encoding: "utf8" });
  execFileSync(process.execPath, [join(root, ".ci", "build-program.cjs"), target]);
}

beforeAll(async () => {
  const built = await madeOf("build", ofBuild, build);
  directory = mkdtempSync(join(root, "node_modules", ".cache", "published-"));
  for (const file of ["package.json", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE"])
    copyFileSync(join(root, file), join(directory, file));
  for (const folder of ["examples", "plugins", "transforms"]) cpSync(join(root, folder), join(directory, folder), { recursive: true });
  cpSync(built, join(directory, "dist"), { recursive: true });
}, 240_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Installed {
  readonly bin: string;
  readonly path: string;
  /** The folder of the package. */
  readonly folder: string;
}

let installed: Installed | undefined;

/** As `npm install -g` leaves it: the packed files, and both names in a directory of the search path. The libraries are those of the repository. */
function install(): Installed {
  installed ??= installPacked();
  return installed;
}

function installPacked(): Installed {
  const prefix = join(directory, "prefix");
  const modules = join(prefix, "lib", "node_modules");
  const folder = join(modules, "service-gateway");
  const bin = join(prefix, "bin");
  for (const one of [folder, bin]) mkdirSync(one, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", prefix], {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [tarball = ""] = readdirSync(prefix).filter((name) => name.endsWith(".tgz"));
  expect(packed).toContain(tarball);
  execFileSync("tar", ["-xzf", join(prefix, tarball), "-C", folder, "--strip-components=1"]);
  const { bin: names } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly bin: Record<string, string> };
  for (const [name, file] of Object.entries(names)) {
    chmodSync(join(folder, file), 0o755);
    symlinkSync(join(folder, file), join(bin, name));
  }
  expect(Object.keys(names)).toEqual(["service", "service-gateway"]);
  return { bin, path: [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(":"), folder };
}

/**
 * The packed package once more, without its dependencies: npm would ask the registry for them, and the repository has them. Without what
 * no program reads: npm is as busy with a declaration or a page as with a file of code.
 */
function packWithoutLibraries({ folder }: Installed): string {
  const package_ = join(directory, "lean", "package");
  cpSync(folder, package_, { recursive: true, filter: (path) => !/\.(?:d\.ts|md)$/.test(path) });
  const file = join(package_, "package.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), dependencies: {}, peerDependencies: {} }));
  const tarball = join(directory, "service-gateway.tgz");
  execFileSync("tar", ["-czf", tarball, "-C", dirname(package_), "package"]);
  return tarball;
}

const execute = promisify(execFile);

/** The host's own Node; `npm` brings a newer one. */
const hostNode = "/usr/bin/node";
const isOld = existsSync(hostNode) && /^v(?:1\d|2[0-3])\./.test(execFileSync(hostNode, ["--version"], { encoding: "utf8" }));
if (!isOld) console.warn(`left out: ${hostNode} is no older Node`);

describe.concurrent("the published package", () => {
  const main = () => join(directory, "dist", "core", "cli", "main.js");

  test("holds what package.json promises", () => {
    expect(existsSync(join(directory, "dist", "core", "sdk", "index.d.ts"))).toBe(true);
    const pages = sources("plugins/**/*.{html,css,js,svg}");
    expect(pages.filter((path) => !existsSync(join(directory, "dist", path)))).toEqual([]);
  });

  test("loads the schema library as one file, with its licence", () => {
    const dist = join(directory, "dist");
    const code = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
    const asks = (path: string, wanted: RegExp) => wanted.test(readFileSync(join(dist, path), "utf8"));
    expect(code.filter((path) => asks(path, /(?:from |import\()"typebox/))).toEqual([]);
    expect(code.filter((path) => asks(path, /from "[./]+libraries\/typebox\.js"/))).not.toEqual([]);
    expect(readFileSync(join(dist, "libraries", "typebox.js"), "utf8")).toMatch(/^\/\*\ntypebox\n[\s\S]*Permission is hereby granted/);
  });

  test("contains the program in few files, and each of them finds the files that it imports", () => {
    const dist = join(directory, "dist");
    const code = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
    const missing = code.flatMap((path) =>
      [...readFileSync(join(dist, path), "utf8").matchAll(/^(?:import|export) .*?"(\.[^"]+)";$/gm)]
        .map(([, imported = ""]) => join(dist, dirname(path), imported))
        .filter((file) => !existsSync(file)),
    );
    expect(missing).toEqual([]);
    expect(code.length).toBeLessThan(300);
    // A thread of the store starts with every gateway.
    expect(readFileSync(join(dist, "core", "state", "sqlite", "writer.js"), "utf8")).not.toMatch(/^import .*"\./m);
  });

  test("starts without TypeScript: all bundled plugins are up, and the page is served", async () => {
    const home = temporaryHome();
    const dev = start(["dev", "--port", "0", "--page-port", "0"], { home, main: main() });
    const said = await dev.until(/Page +\S+[\s\S]*Ctrl\+C/);
    const page = await fetch(/Page +(\S+)/.exec(said)?.[1] ?? "");
    expect(page.status).toBe(200);
    const { out } = await run(["plugins", "list", "--json"], { home, main: main() });
    const { plugins } = JSON.parse(out) as { readonly plugins: readonly { readonly id: string; readonly state: string }[] };
    expect(plugins.filter(({ state }) => state !== "up")).toEqual([]);
    dev.child.kill("SIGTERM");
    expect((await dev.finished).code).toBe(0);
  }, 30_000);

  test("installed from its tarball, by the README alone: from the configuration to the first answer of a model in two minutes", async () => {
    const { bin, path } = install();
    const began = performance.now();
    const home = temporaryHome();
    const platform = await openPlatform();
    const model = await createOpenAiServer();
    onTestFinished(() => model.close());
    const [, section = ""] = read("README.md").split("\n## From the demo to your own bot\n");
    const [, config = ""] = /```jsonc\n([\s\S]*?)```/.exec(section) ?? [];
    mkdirSync(join(home, ".service"), { mode: 0o700 });
    writeFileSync(join(home, ".service", "bot-token"), `${botToken}\n`, { mode: 0o600 });
    // The platform and the model server are stand-ins; everything else is as printed.
    const standIns = config
      .replace("http://127.0.0.1:11434/v1", model.url)
      .replace('"dmPolicy"', `"apiRoot": "${platform.url}", "dmPolicy"`)
      .replace("{", '{ "gateway": { "port": 0 },');
    writeFileSync(join(home, ".service", "config.jsonc"), standIns);

    const commands = [...section.matchAll(/^ *service-gateway (.+)$/gm)].map(([, args = ""]) => args.split(" "));
    expect(commands).toEqual([["config", "validate"], ["gateway"]]);
    const options = { home, env: { PATH: path }, main: join(bin, "service-gateway") };
    expect(await run(["config", "validate"], options)).toMatchObject({ code: 0 });
    const gateway = start(["gateway"], options);
    await gateway.until(/ready at/);

    const [ada = 0] = people(platform);
    platform.act.say(ada, ada, "Hello, bot!");
    await answered(platform, ada, "Pairing code");
    const [approve = ""] = /^service-gateway pairing approve botchat \S+$/m.exec(answers(platform, ada).join("\n")) ?? [];
    const approved = spawnSync("sh", ["-c", approve], { encoding: "utf8", env: { PATH: path, HOME: home } });
    expect([approved.status, approved.stdout]).toEqual([0, expect.stringContaining("is an owner now")]);
    platform.act.say(ada, ada, "What is bread?");
    await answered(platform, ada, "What is bread?", 30_000);
    expect(model.requests.map(({ body }) => body.model)).toEqual(["llama3.2"]);
    expect(performance.now() - began).toBeLessThan(120_000);
    gateway.child.kill("SIGTERM");
    expect((await gateway.finished).code).toBe(0);
  }, 150_000);

  test("a plugin of each kind, created by the packed command, installs beside it from its tarball, and passes its tests", async () => {
    const gateway = install();
    const home = join(directory, "author");
    mkdirSync(home);
    const options = { cwd: home, env: { PATH: gateway.path, HOME: home, NO_COLOR: "1", ...inherited } };
    const names = pluginKinds.map((kind) => `acme-${kind}`);
    const create = (kind: string) =>
      execute(join(gateway.bin, "service-gateway"), ["plugins", "create", `acme-${kind}`, "--kind", kind], options);
    await Promise.all(pluginKinds.map(create));

    writeFileSync(join(home, "package.json"), JSON.stringify({ scripts: { test: "vitest run" } }));
    await execute("npm", ["pack", "--silent", ...names.map((name) => `./${name}`)], options);
    const tarballs = [packWithoutLibraries(gateway), ...names.map((name) => `./${name}-0.1.0.tgz`)];
    await execute("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], options);

    // Without `npm install` in each: the package is found above, vitest in the repository. One run has the tests of all of them.
    const scripts = names.map((name) => JSON.parse(readFileSync(join(home, name, "package.json"), "utf8")).scripts.test);
    expect(scripts).toEqual(names.map(() => "vitest run"));
    const { stdout } = await execute("npm", ["test"], options);
    for (const name of names) expect(stdout).toMatch(new RegExp(`✓ ${name}/test/\\S+\\.test\\.ts \\(\\d+ tests\\)`));
    expect(stdout).toMatch(/Tests +\d+ passed \(\d+\)/);

    const plugins = names.filter((name) => name !== "acme-transform");
    writeFileSync(join(home, "config.jsonc"), JSON.stringify({ plugins: { load: plugins } }));
    const listed = await execute("service-gateway", ["plugins", "list", "--json", "--config", "config.jsonc"], options);
    const { plugins: all } = JSON.parse(listed.stdout) as { readonly plugins: readonly { readonly id: string; readonly state: string }[] };
    expect(all.filter(({ id }) => id.startsWith("acme-")).map(({ id, state }) => `${id} ${state}`)).toEqual(
      plugins.map((id) => `${id} ready`),
    );
  }, 120_000);

  test.runIf(isOld)("tells an older Node in one sentence what it needs", () => {
    const { status, stdout, stderr } = spawnSync(hostNode, [main(), "gateway"], { encoding: "utf8", env: {} });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: Node \S+ is too old: this program needs Node 24\.16 or later[^\n]*\.\n {7}[^\n]+\n$/);
  });
});
