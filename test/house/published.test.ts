import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run, start, temporaryHome } from "../core/cli/command.ts";
import { root, sources } from "./sources.ts";

/** Below `node_modules`, so that the package's libraries are found as in an installation. */
let directory: string;

beforeAll(() => {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  directory = mkdtempSync(join(cache, "published-"));
  copyFileSync(join(root, "package.json"), join(directory, "package.json"));
  cpSync(join(root, "examples"), join(directory, "examples"), { recursive: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  // The types are checked by `npm run check`.
  const how = ["-p", join(root, "tsconfig.build.json"), "--noCheck", "--outDir", join(directory, "dist")];
  execFileSync(process.execPath, [tsc, ...how], { encoding: "utf8" });
  execFileSync(process.execPath, [join(root, ".ci", "after-tsc.cjs"), join(directory, "dist")]);
}, 240_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The host's own Node; `npm` brings a newer one. */
const hostNode = "/usr/bin/node";
const isOld = existsSync(hostNode) && /^v(?:1\d|2[0-3])\./.test(execFileSync(hostNode, ["--version"], { encoding: "utf8" }));
if (!isOld) console.warn(`left out: ${hostNode} is no older Node`);

describe("the published package", () => {
  const main = () => join(directory, "dist", "core", "cli", "main.js");

  test("holds what package.json promises", () => {
    expect(existsSync(join(directory, "dist", "core", "sdk.d.ts"))).toBe(true);
    const pages = sources("plugins/**/*.{html,css,js,svg}");
    expect(pages.filter((path) => !existsSync(join(directory, "dist", path)))).toEqual([]);
  });

  test("loads the schema library as one file, with its licence", () => {
    const dist = join(directory, "dist");
    const code = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
    const asks = (path: string, wanted: RegExp) => wanted.test(readFileSync(join(dist, path), "utf8"));
    expect(code.filter((path) => asks(path, /(?:from |import\()"typebox/))).toEqual([]);
    expect(code.filter((path) => asks(path, /from "[./]+libraries\/typebox\.js"/)).length).toBeGreaterThan(5);
    expect(readFileSync(join(dist, "libraries", "typebox.js"), "utf8")).toMatch(/^\/\*\ntypebox\n[\s\S]*Permission is hereby granted/);
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

  test.runIf(isOld)("tells an older Node in one sentence what it needs", () => {
    const { status, stdout, stderr } = spawnSync(hostNode, [main(), "gateway"], { encoding: "utf8", env: {} });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: Node \S+ is too old: this program needs Node 24\.16 or later[^\n]*\.\n {7}[^\n]+\n$/);
  });
});
