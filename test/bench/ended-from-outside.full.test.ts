/** A benchmark or a soak that is ended from outside takes its gateways along. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";

const repository = join(import.meta.dirname, "../..");

function childrenOf(pid: number): readonly number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return listed === "" ? [] : listed.split(" ").map(Number);
}

/** One that has ended and was not asked for its end has no command line. */
function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

test.skipIf(process.platform !== "linux").each([
  ["SIGINT", ["bench/main.ts", "outbox"], { children: 2, left: [] }],
  ["SIGTERM", ["bench/main.ts", "outbox"], { children: 2, left: [] }],
  ["SIGTERM", ["bench/soak.ts"], { children: 2, left: [expect.stringMatching(/^soak-/)] }],
  [
    "SIGTERM",
    ["--conditions=service-gateway-source", "bench/nodes-soak.ts"],
    { children: 4, left: [expect.stringMatching(/^nodes-soak-/)] },
  ],
  [
    "SIGTERM",
    ["--conditions=service-gateway-source", "bench/soak.ts", "--streams", "5", "--live"],
    { children: 1, left: [] },
  ],
] as const)(
  "a signal ends the benchmark and all its child processes: %s, node %j",
  async (signal, args, { children: least, left }) => {
    const directory = temporaryDirectory();
    // A PostgreSQL runs as another user if this one is root.
    chmodSync(directory, 0o755);
    onTestFinished(() => removeDirectory(directory));
    const bench = spawn(process.execPath, ["--conditions=service-gateway-source", ...args], {
      cwd: repository,
      env: { ...process.env, TMPDIR: directory },
      stdio: "ignore",
    });
    const exit = once(bench, "exit");
    const pid = bench.pid ?? 0;
    await vi.waitFor(() => expect(childrenOf(pid).length).toBeGreaterThanOrEqual(least), 60_000);
    const children = childrenOf(pid);
    expect(readdirSync(directory)).not.toEqual([]);
    bench.kill(signal);
    expect(await exit).toEqual([null, signal]);
    await vi.waitFor(() => expect(children.filter(isRunning)).toEqual([]), 60_000);
    // A benchmark removes its files; a soak keeps its state, which is examined after a failure.
    expect(readdirSync(directory)).toEqual(left);
  },
);
