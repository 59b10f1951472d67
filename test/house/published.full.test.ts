import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
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
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { aroundEach, beforeAll, describe, test } from "vitest";
import { pluginKinds } from "../../core/cli/plugins/commands.ts";
import { inherited, run, start, temporaryHome } from "../core/cli/command.ts";
import { answered, answers, botToken, openPlatform, people } from "../e2e/room.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { sizesOfPackage } from "../support/installed-size.ts";
import { madeOf } from "../support/made.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { packageSources, packPackage } from "../support/packed-package.ts";
import { changedSizes } from "./size-table.ts";
import { read, root, sources } from "./sources.ts";

aroundEach(inOwnTest);

/**
 * The package: built, packed, and unpacked again. Below `node_modules`, so that its libraries are found as in an
 * installation.
 */
let directory: string;

beforeAll(async () => {
  directory = await madeOf("published", packageSources, (made) => {
    install(made);
    packWithoutLibraries(made);
  });
}, 240_000);

const binOf = (made: string) => join(made, "prefix", "bin");
const folderOf = (made: string) => join(made, "prefix", "lib", "node_modules", "service-gateway");
const leanTarball = (made: string) => join(made, "service-gateway.tar");

/**
 * As `npm install -g` leaves it: the packed files, and both names in a directory of the search path. The libraries are
 * those of the repository.
 */
function install(made: string): void {
  const prefix = join(made, "prefix");
  const [bin, folder] = [binOf(made), folderOf(made)];
  for (const one of [folder, bin]) mkdirSync(one, { recursive: true });
  execFileSync("tar", ["-xzf", packPackage(made, prefix), "-C", folder, "--strip-components=1"]);
  const { bin: names } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly bin: Record<string, string>;
  };
  for (const [name, file] of Object.entries(names)) {
    chmodSync(join(folder, file), 0o755);
    symlinkSync(relative(bin, join(folder, file)), join(bin, name));
  }
  expect(Object.keys(names)).toEqual(["service", "service-gateway"]);
}

/**
 * The packed program once more, without its dependencies: npm would ask the registry for them, and the repository has
 * them. Without what no program reads: npm is as busy with a declaration or a page as with a file of code.
 */
function packWithoutLibraries(made: string): void {
  const package_ = join(made, "lean", "package");
  cpSync(join(folderOf(made), "dist"), join(package_, "dist"), {
    recursive: true,
    filter: (path) => !/\.(?:d\.ts|md)$/.test(path),
  });
  const manifest = JSON.parse(readFileSync(join(folderOf(made), "package.json"), "utf8")) as object;
  writeFileSync(
    join(package_, "package.json"),
    JSON.stringify({ ...manifest, dependencies: {}, peerDependencies: {} }),
  );
  execFileSync("tar", ["-cf", leanTarball(made), "-C", dirname(package_), "package"]);
}

/** The files below a directory whose names end so. */
const filesOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));

/** The search path of a user who has installed the package. */
const searchPath = () => [binOf(directory), dirname(process.execPath), "/usr/bin", "/bin"].join(":");

const execute = promisify(execFile);

/** The host's own Node; `npm` brings a newer one. */
const hostNode = "/usr/bin/node";
const isOld =
  existsSync(hostNode) && /^v(?:1\d|2[0-3])\./.test(execFileSync(hostNode, ["--version"], { encoding: "utf8" }));
if (!isOld) console.warn(`left out: ${hostNode} is no older Node`);

describe.concurrent("the published package", () => {
  const main = () => join(directory, "dist", "core", "cli", "main.js");

  test("contains what package.json declares", () => {
    expect(existsSync(join(directory, "dist", "core", "sdk", "index.d.ts"))).toBe(true);
    const pages = sources("plugins/**/*.{html,css,js,svg}");
    expect(pages.filter((path) => !existsSync(join(directory, "dist", path)))).toEqual([]);
  });

  test("loads the schema library as one file", () => {
    const dist = join(directory, "dist");
    const code = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
    const asks = (path: string, wanted: RegExp) => wanted.test(readFileSync(join(dist, path), "utf8"));
    expect(code.filter((path) => asks(path, /(?:from |import\()"typebox/))).toEqual([]);
    expect(code.filter((path) => asks(path, /from "[./]+libraries\/typebox\.js"/))).not.toEqual([]);
  });

  test("takes on the disk what bench/README.md says", () => {
    expect(changedSizes(sizesOfPackage(folderOf(directory)))).toEqual([]);
  });

  test("goes along with the licence text of each library that it contains", () => {
    const folder = folderOf(directory);
    const contained = new Set(
      filesOf(folder, "js").flatMap((path) =>
        [...readFileSync(path, "utf8").matchAll(/^\/\/ \S*\bnode_modules\/((?:@[^/\s]+\/)?[^/\s]+)\/\S+$/gm)].map(
          ([, name = ""]) => name,
        ),
      ),
    );
    expect([...contained]).toEqual(
      expect.arrayContaining(["typebox", "ai", "zod", "@ai-sdk/provider-utils", "entities"]),
    );
    const line = `\n${"=".repeat(80)}\n\n`;
    const [, ...parts] = readFileSync(join(folder, "dist", "THIRD-PARTY-LICENSES"), "utf8").split(line);
    const texts = new Map(parts.flatMap((title, at) => (at % 2 === 0 ? [[title.trim(), parts[at + 1] ?? ""]] : [])));
    const listed = [...texts.keys()].map((title) => title.replace(/ \d+\.\d+\.\d+\S* \(.*\)$/, ""));
    expect(new Set(listed)).toEqual(new Set([...contained, "Apache License 2.0"]));
    const permits =
      /Permission is hereby granted|Permission to use, copy|Redistribution and use|Apache License,?\s+(?:Version )?2/i;
    expect([...texts].filter(([, text]) => !permits.test(text)).map(([title]) => title)).toEqual([]);
    expect(texts.get("Apache License 2.0")).toContain("TERMS AND CONDITIONS");
  });

  test("needs no library that npm does not install with it", () => {
    const folder = folderOf(directory);
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
      string,
      object
    >;
    const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
    const imports =
      /(?:^(?:import|export) .*?from |^import |\bimport\(|\brequire\(|\bcreateRequire\((?:new URL\("[^"]*", )?import\.meta\.url(?:\)\.href)?\)\()"((?:@[^/"]+\/)?[^./"][^/":]*)(?:\/[^":]*)?"/gm;
    // Browsers find what a page imports by its import map, in the folder `libraries` of the page.
    const code = filesOf(folder, ".js").filter((path) => !/\/plugins\/[^/]+\/page\//.test(path));
    const foreign = [...code, ...filesOf(folder, ".d.ts")].flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(imports)]
        .map(([, name = ""]) => name)
        .filter((name) => !installed.has(name) && !isBuiltin(name) && name !== "service-gateway")
        .map((name) => `${relative(folder, path)}: ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  test("contains the program in few files, all of whose imports resolve", () => {
    const dist = join(directory, "dist");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" });
    const code = files.filter((path) => path.endsWith(".js"));
    const missing = [...code, ...files.filter((path) => path.endsWith(".d.ts"))].flatMap((path) =>
      [...readFileSync(join(dist, path), "utf8").matchAll(/^(?:import|export) .*?"(\.[^"]+)";$/gm)]
        .map(([, imported = ""]) => join(dist, dirname(path), imported.replace(/\.ts$/, ".d.ts")))
        .filter((file) => !existsSync(file)),
    );
    expect(missing).toEqual([]);
    expect(code.filter((path) => !path.startsWith("libraries")).length).toBeLessThan(455);
    // A thread of the store starts with every gateway.
    expect(readFileSync(join(dist, "core", "state", "sqlite", "writer.js"), "utf8")).not.toMatch(/^import .*"\./m);
  });

  test("starts without TypeScript, with all bundled plugins running and the page served", async () => {
    const home = temporaryHome();
    const dev = start(["dev", "--port", "0", "--page-port", "0"], { home, main: main() });
    const said = await dev.until(/Page +\S+[\s\S]*Ctrl\+C/);
    const page = await fetch(/Page +(\S+)/.exec(said)?.[1] ?? "");
    expect(page.status).toBe(200);
    const { out } = await run(["plugins", "list", "--json"], { home, main: main() });
    const { plugins } = JSON.parse(out) as {
      readonly plugins: readonly { readonly id: string; readonly state: string }[];
    };
    expect(plugins.filter(({ state }) => state !== "up")).toEqual([]);
    dev.child.kill("SIGTERM");
    expect((await dev.finished).code).toBe(0);
  }, 30_000);

  test("installed from its tarball as in the README, has a model's answer within two minutes", async () => {
    const path = searchPath();
    const began = performance.now();
    const home = temporaryHome();
    const platform = await openPlatform();
    const model = await createOpenAiServer();
    onTestFinished(() => model.close());
    const [, section = ""] = read("README.md").split("\n## From the demo to your own bot\n");
    const commands = [...section.matchAll(/^ *service-gateway (.+)$/gm)].map(([, args]) => args);
    expect(commands).toEqual(["init", "gateway"]);
    const options = { home, env: { PATH: path }, main: join(binOf(directory), "service-gateway") };
    writeFileSync(join(home, "token"), `${botToken}\n`);
    // The platform and the model server are stand-ins, and the answers are options, as without a terminal.
    const standIns = ["--platform-address", platform.url, "--model-address", model.url];
    const init = ["init", "--yes", "--token-file", join(home, "token"), "--model", "ollama/llama3.2", ...standIns];
    expect(await run(init, options)).toMatchObject({ code: 0 });
    expect(await run(["config", "set", "gateway.port", "0"], options)).toMatchObject({ code: 0 });
    const gateway = start(["gateway"], options);
    await gateway.until(/ready at/);

    const [ada = 0] = people(platform);
    platform.act.say(ada, ada, "Hello, bot!");
    await answered(platform, ada, "Pairing code");
    const [approve = ""] =
      /^service-gateway pairing approve botchat \S+$/m.exec(answers(platform, ada).join("\n")) ?? [];
    const approved = spawnSync("sh", ["-c", approve], { encoding: "utf8", env: { PATH: path, HOME: home } });
    expect([approved.status, approved.stdout]).toEqual([0, expect.stringContaining("is an owner now")]);
    // What was written before the approval is answered after it.
    await answered(platform, ada, "Hello, bot!", 30_000);
    platform.act.say(ada, ada, "What is bread?");
    await answered(platform, ada, "What is bread?", 30_000);
    expect(model.requests.map(({ body }) => body.model)).toEqual(["llama3.2", "llama3.2", "llama3.2"]);
    expect(performance.now() - began).toBeLessThan(120_000);
    gateway.child.kill("SIGTERM");
    expect((await gateway.finished).code).toBe(0);
  }, 150_000);

  test("lets a generated plugin of each type install from its tarball and pass its tests", async () => {
    const home = mkdtempSync(join(root, "node_modules", ".cache", "author-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const options = { cwd: home, env: { PATH: searchPath(), HOME: home, NO_COLOR: "1", ...inherited } };
    const names = pluginKinds.map((kind) => `acme-${kind}`);
    const create = (kind: string) =>
      execute("service-gateway", ["plugins", "create", `acme-${kind}`, "--kind", kind], options);
    await Promise.all(pluginKinds.map(create));

    // The tests of all of them in one process: each would load the gateway again.
    writeFileSync(
      join(home, "package.json"),
      JSON.stringify({ scripts: { test: "vitest run --no-isolate --max-workers=1" } }),
    );
    await execute("npm", ["pack", "--silent", ...names.map((name) => `./${name}`)], options);
    const tarballs = [leanTarball(directory), ...names.map((name) => `./${name}-0.1.0.tgz`)];
    await execute("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], options);

    // Without `npm install` in each: the package is found above, vitest in the repository. One run has the tests of all
    // of them.
    const scripts = names.map(
      (name) => JSON.parse(readFileSync(join(home, name, "package.json"), "utf8")).scripts.test,
    );
    expect(scripts).toEqual(names.map(() => "vitest run"));
    const { stdout } = await execute("npm", ["test"], options);
    for (const name of names) expect(stdout).toMatch(new RegExp(`✓ ${name}/test/\\S+\\.test\\.ts \\(\\d+ tests\\)`));
    expect(stdout).toMatch(/Tests +\d+ passed \(\d+\)/);

    const plugins = names.filter((name) => name !== "acme-transform");
    writeFileSync(join(home, "config.jsonc"), JSON.stringify({ plugins: { load: plugins } }));
    const listed = await execute("service-gateway", ["plugins", "list", "--json", "--config", "config.jsonc"], options);
    const { plugins: all } = JSON.parse(listed.stdout) as {
      readonly plugins: readonly { readonly id: string; readonly state: string }[];
    };
    expect(all.filter(({ id }) => id.startsWith("acme-")).map(({ id, state }) => `${id} ${state}`)).toEqual(
      plugins.map((id) => `${id} ready`),
    );
  }, 120_000);

  test.runIf(isOld)(
    "explains on an older Node, in one sentence, what it requires and how to start with a newer one",
    () => {
      const said = (program: string, ...args: readonly string[]) => {
        const { status, stdout, stderr } = spawnSync(hostNode, [program, ...args], { encoding: "utf8", env: {} });
        expect([status, stdout]).toEqual([1, ""]);
        expect(stderr).toMatch(
          /^error: Node \S+ is too old: this program needs Node 24\.16 or later[^\n]*\.\n {7}[^\n]+\n$/,
        );
        expect(stderr).toContain("https://nodejs.org/en/download");
        return stderr;
      };
      expect(said(main(), "status", "--json")).toMatch(/npx -y -p node@26 -- service-gateway status --json\n$/);
      expect(said(main(), "message", "send", "--message", "two words")).toMatch(/-- service-gateway \.\.\.\n$/);
      expect(said(join(root, "core", "cli", "main.js"), "status")).toMatch(/npm run -s service -- status\n$/);
    },
  );
});
