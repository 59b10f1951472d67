/** The scripts of the benchmarks and of the soak, when somebody does not know how to call them. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

function run(script: string, ...args: readonly string[]) {
  const file = fileURLToPath(new URL(`../../bench/${script}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=service-gateway-source", file, ...args],
    {
      encoding: "utf8",
    },
  );
  return { status, stdout, stderr };
}

describe.each(["main.ts", "soak.ts", "nodes-soak.ts"])("bench/%s", (script) => {
  test("explains its usage with --help, including an example", () => {
    const { status, stdout } = run(script, "--help");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run [\w:]+ -- /m);
    expect(stdout).toMatch(/^Example: npm run [\w:]+ -- /m);
  });
});

test.each([
  ["main.ts", ["wke"], "error: there is no benchmark wke; see --help\n"],
  ["main.ts", ["--rounds", "many"], "error: --rounds many: give a whole number from 1 on; see --help\n"],
  [
    "main.ts",
    ["wake", "--write"],
    "error: the table is of one run of all: leave out --write, or the names; see --help\n",
  ],
  ["soak.ts", ["--cylces", "3"], "error: Unknown option '--cylces'; see --help\n"],
  ["soak.ts", ["--store", "files"], "error: --store files: choose sqlite or postgres; see --help\n"],
  [
    "nodes-soak.ts",
    ["--lease", "5"],
    "error: --lease 5: give at least 7 seconds, because a send is not begun with less than 5 left; see --help\n",
  ],
  ["soak.ts", ["--mode", "pigeon"], "error: --mode pigeon: choose polling, webhook or both; see --help\n"],
])("bench/%s %j exits with 2 and prints one sentence", (script, args, sentence) => {
  expect(run(script, ...args)).toEqual({ status: 2, stdout: "", stderr: sentence });
});
