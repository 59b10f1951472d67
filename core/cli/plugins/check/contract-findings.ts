/**
 * Holds a channel to the contract, without a platform: by the fixtures that its package offers, in its author's own
 * test runner.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { packageDirectory } from "../../../contract/package.ts";
import { product } from "../../../contract/product.ts";
import { type Finding, finding } from "./finding.ts";
import { placeOfText } from "./source-place.ts";

/**
 * The source of this program runs with its own testkit; the published one with the kit and the runner that the plugin
 * has installed.
 */
const fromSource = import.meta.url.endsWith(".ts");
const timeoutMs = 120_000;

export interface ContractRun {
  readonly passed: number;
  readonly findings: readonly Finding[];
}

export async function runContract({
  folder,
  entry,
  directory,
}: {
  /** Of the package. */
  readonly folder: string;
  readonly entry: string;
  /** For temporary files. */
  readonly directory: string;
}): Promise<ContractRun> {
  const fixtures = ["test/fixtures.ts", "test/fixtures.js", "fixtures.ts", "fixtures.js"]
    .map((path) => join(folder, path))
    .find((path) => existsSync(path));
  const left = (why: string): ContractRun => ({
    passed: 0,
    findings: [finding("contract-not-run", why, placeOfText(/defineChannel\(/, entry))],
  });
  if (fixtures === undefined) return left("The channel provides no fixtures, so parse and render were not tested");
  const runner = installed("vitest/package.json", folder);
  const kit = fromSource
    ? fileURLToPath(new URL("../../../testkit/index.ts", import.meta.url))
    : installed(`${product.packageName}/testkit`, folder);
  if (runner === undefined || kit === undefined)
    return left(
      `${runner === undefined ? "vitest" : product.packageName} is not installed beside the plugin, so ` +
        "parse and render were not tested",
    );
  const report = await runTests({ vitest: join(dirname(runner), "vitest.mjs"), kit, entry, fixtures, directory });
  const at = placeOfText(/\bfixtures\b/, fixtures);
  if (report === undefined)
    return { passed: 0, findings: [finding("contract-broken", "The contract did not finish", at)] };
  const broken = report.testResults.flatMap(({ message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === "failed");
    // A file that does not load has no tests.
    if (failed.length === 0 && message !== "") return [{ rule: "The contract could not be run", text: message }];
    return failed.map(({ ancestorTitles, title, failureMessages: [text = ""] }) => ({
      rule: [...ancestorTitles.slice(1), title].join(" > "),
      text,
    }));
  });
  // What keeps every rule from being tried is one finding.
  const findings = [...Map.groupBy(broken, ({ text }) => firstLine(text))].map(([sentence, [first, ...more]]) => {
    const others = more.length === 0 ? "" : ` (and ${more.length} more rules)`;
    const place = placeIn(first?.text ?? "", folder) ?? placeOfFunction(sentence, entry) ?? at;
    return finding("contract-broken", `${first?.rule}${others}: ${sentence}`, place);
  });
  return { passed: report.numPassedTests, findings };
}

const firstLine = (text: string) => (text.split("\n")[0] ?? "").replace(/^\w*Error: /, "");

function placeIn(text: string, folder: string) {
  for (const [, file = "", line = ""] of text.matchAll(/(\/[^\s():]+):(\d+):\d+/g))
    if (file.startsWith(`${folder}/`) && !file.includes("/node_modules/")) return { file, line: Number(line) };
  return undefined;
}

/** Where a function that the sentence names is written, in the sources beside the entry. */
function placeOfFunction(sentence: string, entry: string) {
  const name = /^The connection has (?:a function )?(\w+)/.exec(sentence)?.[1];
  if (name === undefined) return undefined;
  // A member with another value, such as a capability, may have the same name.
  return placeOfText(new RegExp(`^\\s*(?:async\\s+)?${name}\\s*(?:\\(|,|:\\s*(?:async\\b|\\())`), entry);
}

function installed(name: string, folder: string): string | undefined {
  for (const from of fromSource ? [folder, packageDirectory()] : [folder]) {
    try {
      return createRequire(join(from, "package.json")).resolve(name);
    } catch {
      // The next place is tried.
    }
  }
  return undefined;
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly ancestorTitles: readonly string[];
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Settings of the test runner by which a package that runs from its source is found. Node loads it, as it does in an
 * installation.
 */
function ownSource(): string {
  if (!fromSource) return "";
  const core = join(packageDirectory(), "core");
  const doors = ["sdk/channel", "sdk/store", "sdk/reading", "sdk/tools", "sdk", "testkit"].map((door) => [
    `${product.packageName}/${door}`,
    join(core, `${door.includes("/") ? door : `${door}/index`}.ts`),
  ]);
  const external = `new RegExp(${JSON.stringify(`^${core.replaceAll(/[^\w/]/g, "\\$&")}/`)})`;
  return (
    `resolve: { alias: ${JSON.stringify(Object.fromEntries(doors))} }, test: { server: { deps: { ` +
    `external: [${external}] } } }`
  );
}

async function runTests(files: {
  readonly vitest: string;
  readonly kit: string;
  readonly entry: string;
  readonly fixtures: string;
  readonly directory: string;
}): Promise<Report | undefined> {
  const { vitest, directory } = files;
  const [kit, entry, fixtures] = [files.kit, files.entry, files.fixtures].map((file) =>
    JSON.stringify(pathToFileURL(file).href),
  );
  writeFileSync(
    join(directory, "contract.test.mjs"),
    `import { channelContract } from ${kit};
import channel from ${entry};
import * as given from ${fixtures};
const { options = {}, fixtures, functions = [], skip = [] } = given;
channelContract({ channel, options, fixtures, functions, skip });
`,
  );
  writeFileSync(
    join(directory, "vitest.config.mjs"),
    `export default { root: ${JSON.stringify(directory)}, ${ownSource()} };`,
  );
  const report = join(directory, "report.json");
  const child = spawn(
    process.execPath,
    [vitest, "run", "--config", "vitest.config.mjs", "--reporter=json", `--outputFile=${report}`],
    {
      cwd: directory,
      stdio: "ignore",
      timeout: timeoutMs,
    },
  );
  await once(child, "exit");
  return existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as Report) : undefined;
}
