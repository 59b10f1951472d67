/** Tests of a stranger, run by vitest in a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface TestRun {
  readonly passed: number;
  /** Messages of the tests and files that failed. */
  readonly failures: readonly string[];
}

/**
 * Runs the tests among files as their author does: in folders of their own, with nothing but the package and vitest.
 * Resolves with what happened in each of the folders.
 */
export async function runTests(
  files: Readonly<Record<string, string>>,
  folders: readonly string[],
): Promise<ReadonlyMap<string, TestRun>> {
  // Below the repository, so that the package and vitest are found as in an installation.
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules", ".cache", "example-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const alias = Object.fromEntries(
    ["sdk/channel.ts", "sdk/store.ts", "sdk/reading.ts", "sdk/tools.ts", "sdk/index.ts", "testkit/index.ts"].map(
      (file) => [`service-gateway/${file.replace(/(\/index)?\.ts$/, "")}`, join(root, "core", file)],
    ),
  );
  // Node loads the package, as it does in an installation, and compiles it once for all runs; vitest would transform it
  // in each.
  const external = `/^${join(root, "core").replaceAll("/", "\\/")}\\//`;
  // One process runs the files one after the other: its start is most of the work.
  const config =
    `{ root: ${JSON.stringify(folder)}, resolve: { alias: ${JSON.stringify(alias)} }, test: { ` +
    `isolate: false, maxWorkers: 1, server: { deps: { external: [${external}] } } } }`;
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${config};`);
  const report = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(
    process.execPath,
    [vitest, "run", "--config", "vitest.config.mjs", "--reporter=json", `--outputFile=${report}`],
    {
      cwd: folder,
      stdio: "ignore",
    },
  );
  await once(child, "exit");
  const json = readFileSync(report, "utf8");
  rmSync(folder, { recursive: true });
  const { testResults } = JSON.parse(json) as { readonly testResults: readonly FileResult[] };
  return new Map(
    folders.map((name) => [
      name,
      testRunOf(testResults.filter((result) => result.name.startsWith(`${join(folder, name)}/`))),
    ]),
  );
}

interface FileResult {
  /** The path of the file. */
  readonly name: string;
  readonly message: string;
  readonly assertionResults: readonly { readonly status: string; readonly failureMessages: readonly string[] }[];
}

function testRunOf(results: readonly FileResult[]): TestRun {
  const tests = results.flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: tests.filter(({ status }) => status === "passed").length,
    failures: [
      ...results.flatMap(({ message }) => (message === "" ? [] : [message])),
      ...tests.flatMap(({ failureMessages }) => failureMessages),
    ],
  };
}
