/** Tests of a stranger, run by vitest in a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface TestRun {
  readonly passed: number;
  /** Messages of the tests and files that failed. */
  readonly failures: readonly string[];
}

/** Runs the tests among files as their author does: in a folder of its own, with nothing but the package and vitest. */
export async function runTests(files: Readonly<Record<string, string>>): Promise<TestRun> {
  // Below the repository, so that the package and vitest are found as in an installation.
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules", ".cache", "example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const alias = Object.fromEntries(
    ["sdk/channel.ts", "sdk/store.ts", "sdk/index.ts", "testkit/index.ts"].map((file) => [
      `service-gateway/${file.replace(/(\/index)?\.ts$/, "")}`,
      join(root, "core", file),
    ]),
  );
  // Node loads the package, as it does in an installation, and compiles it once for all runs; vitest would transform it in each.
  const external = `/^${join(root, "core").replaceAll("/", "\\/")}\\//`;
  const config = `{ root: ${JSON.stringify(folder)}, resolve: { alias: ${JSON.stringify(alias)} }, test: { server: { deps: { external: [${external}] } } } }`;
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${config};`);
  const report = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--config", "vitest.config.mjs", "--reporter=json", `--outputFile=${report}`], {
    cwd: folder,
    stdio: "ignore",
  });
  await once(child, "exit");
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    readonly numPassedTests: number;
    readonly testResults: readonly {
      readonly message: string;
      readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
    }[];
  };
  const failures = testResults.flatMap(({ message, assertionResults }) => [
    ...(message === "" ? [] : [message]),
    ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
  ]);
  return { passed: numPassedTests, failures };
}
