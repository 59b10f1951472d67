/**
 * The program as the build bundles it, from the source, for the processes and threads that tests start: a gateway
 * starts with half of the work that it takes from a file for each module. What the program prints is what it prints
 * when it runs from its source.
 */
import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { madeOf } from "./made.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const require = createRequire(import.meta.url);

/** Modules that look for files of the program. All others look for files beside their source. */
const moved: ReadonlySet<string> = new Set([
  "core/host/find",
  "core/host/load",
  "core/isolation/plugin-thread",
  "core/state/sqlite/thread/writer-side",
  "core/transforms/modules/compiler",
  "core/transforms/thread",
  "core/transforms/trusted",
  "core/transforms/trusted-runner",
]);

/** They look for files beside their own, or are made for a bundler in another way than for Node. */
const separate = ["@jitl/quickjs-ng-wasmfile-release-sync", "jiti", "jsonc-parser", "quickjs-emscripten-core"];

/**
 * The libraries in the bundle: a fifth of each start is finding their files. The build leaves most of them where npm
 * puts them, and so does `TEST_LIBRARIES=installed`, with which `.ci/run` runs all tests on its second Node.
 */
function libraries(): readonly string[] {
  const { containedLibraries } = require("../../.ci/contained-libraries.cjs") as {
    readonly containedLibraries: readonly string[];
  };
  if (process.env.TEST_LIBRARIES === "installed") return [...containedLibraries, "typebox"];
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly dependencies: object;
  };
  return [...containedLibraries, ...Object.keys(dependencies).filter((name) => !separate.includes(name))];
}

/** Programs beside those of the build. */
const more = ["core/cli/program", "test/support/mail/measured-process"];

interface Bundler {
  bundleProgram(options: {
    readonly from: string;
    readonly to: string;
    readonly libraries: readonly string[];
    readonly remains: (name: string) => boolean;
    readonly more: readonly string[];
  }): Promise<unknown>;
}

interface Assets {
  copyAssets(target: string): void;
}

/** What the bundle is made of; pages, styles and templates are copied. */
const sources = ["core", "plugins", "test/support", ".ci", "package.json", "package-lock.json"];

/**
 * Before the first test of a run. Where it lies is in the environment: test files and processes of theirs read it
 * there.
 */
export default async function setup(): Promise<void> {
  // Another store takes the place of a module of the source.
  if (process.env.SERVICE_TEST_STORE !== undefined) return;
  for (const name of moved)
    if (!readFileSync(join(root, `${name}.ts`), "utf8").includes("import.meta."))
      throw new Error(`${name}.ts no longer looks for files: correct the list in test/support/program.ts`);
  const contained = libraries();
  const name = process.env.TEST_LIBRARIES === "installed" ? "program-installed" : "program";
  const directory = await madeOf(name, sources, async (made) => {
    const { bundleProgram } = require("../../.ci/bundle-program.cjs") as Bundler;
    const { copyAssets } = require("../../.ci/copy-assets.cjs") as Assets;
    const remains = (name: string) => !moved.has(name);
    await bundleProgram({ from: root, to: join(made, "dist"), libraries: contained, remains, more });
    copyAssets(join(made, "dist"));
    copyFileSync(join(root, "package.json"), join(made, "package.json"));
  });
  process.env.TEST_PROGRAM = join(directory, "dist");
}
