/**
 * The program as the build bundles it, from the source, for the processes and threads that tests start: a gateway starts with a third less
 * work than from a file for each module. What the program prints is what it prints when it runs from its source.
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const cache = join(root, "node_modules", ".cache", "program");
const require = createRequire(import.meta.url);
/** Runs beside this one may use those of other sources. */
const kept = 4;

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

/**
 * Packages that stay as they are: they find files of their own, have modules that a bundler does not see, or are the test runner, of which
 * there is one. The others become part of the program: a gateway would read and link 400 files of theirs at each start.
 */
const apart = /^(?:jiti|jsonc-parser|quickjs-emscripten-core|@jitl\/|vitest)/;

/** Programs beside those of the build. */
const more = ["core/cli/program", "test/support/mail/measured-process"];

interface Bundler {
  bundleProgram(options: {
    readonly from: string;
    readonly to: string;
    readonly remains: (name: string) => boolean;
    readonly more: readonly string[];
    readonly contains: (id: string) => boolean;
  }): Promise<unknown>;
}

interface Assets {
  copyAssets(target: string): void;
}

/** A name for what the program is made of. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const sources = ["core/**/*.{ts,js}", "plugins/**/*.{ts,js,json}", "test/support/*.ts", "test/support/mail/*.ts"];
  const files = globSync([...sources, ".ci/*.cjs", "package-lock.json"], { cwd: root });
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

function removeOld(): void {
  const age = (name: string) => statSync(join(cache, name)).mtimeMs;
  const byAge = readdirSync(cache).sort((one, other) => age(other) - age(one));
  for (const name of byAge.slice(kept)) rmSync(join(cache, name), { recursive: true, force: true });
}

/** Before the first test of a run. Where it lies is in the environment: test files and processes of theirs read it there. */
export default async function setup(): Promise<void> {
  // Another store takes the place of a module of the source.
  if (process.env.SERVICE_TEST_STORE !== undefined) return;
  for (const name of moved)
    if (!readFileSync(join(root, `${name}.ts`), "utf8").includes("import.meta."))
      throw new Error(`${name}.ts no longer looks for files: correct the list in test/support/program.ts`);
  const directory = join(cache, fingerprint());
  if (!existsSync(directory)) {
    mkdirSync(cache, { recursive: true });
    const { bundleProgram } = require("../../.ci/bundle-program.cjs") as Bundler;
    const { copyAssets } = require("../../.ci/copy-assets.cjs") as Assets;
    const made = mkdtempSync(join(cache, "new-"));
    const remains = (name: string) => !moved.has(name);
    const contains = (id: string) => !apart.test(id);
    await bundleProgram({ from: root, to: join(made, "dist"), remains, more, contains });
    copyAssets(join(made, "dist"));
    copyFileSync(join(root, "package.json"), join(made, "package.json"));
    try {
      renameSync(made, directory);
    } catch {
      // Another run was first.
      rmSync(made, { recursive: true });
    }
    removeOld();
  }
  process.env.TEST_PROGRAM = join(directory, "dist");
}
