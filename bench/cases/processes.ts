/** Processes that a benchmark starts and ends, in a directory of its own. */
import { type ChildProcess, execFile, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEnd } from "../before-end.ts";

export const hookToken = "bench-hook-token-123456";
const script = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export interface Running {
  readonly child: ChildProcess;
  /** What it printed after `ready `. */
  readonly readyText: string;
}

export interface Workshop {
  readonly directory: string;
  /** Starts `node bench/<name> ...` and waits for its line `ready ...`. */
  start(name: string, args?: readonly string[]): Promise<Running>;
  startFile(file: string, args: readonly string[]): ChildProcess;
  /** Starts a process that exchanges messages with this one, and waits for its first message. */
  talk<First>(name: string, args: readonly string[]): Promise<{ readonly child: ChildProcess; readonly first: First }>;
  /** Writes a configuration with a separate state directory. */
  config(name: string, content: object): string;
  /** Keeps the directory for inspection. */
  keep(): void;
}

export async function inWorkshop<Outcome>(work: (workshop: Workshop) => Promise<Outcome>): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  const children: ChildProcess[] = [];
  let isRetained = false;
  const clear = () => {
    for (const child of children) child.kill("SIGKILL");
    // A process that was just killed may still be writing.
    if (!isRetained) rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  const ended = beforeEnd(clear);
  const keep = <Child extends ChildProcess>(child: Child): Child => {
    children.push(child);
    return child;
  };
  const workshop: Workshop = {
    directory,
    async start(name, args = []) {
      const child = keep(spawn(process.execPath, [script(name), ...args], { stdio: ["ignore", "pipe", "inherit"] }));
      let printed = "";
      for await (const chunk of child.stdout.setEncoding("utf8")) {
        printed += chunk;
        const line = /^ready ?(.*)$/m.exec(printed);
        if (line === null || !printed.endsWith("\n")) continue;
        return { child, readyText: line[1] ?? "" };
      }
      throw new Error(`${name} ended before it was ready`);
    },
    startFile: (file, args) => keep(spawn(process.execPath, [file, ...args], { stdio: "ignore" })),
    async talk<First>(name: string, args: readonly string[]) {
      const child = keep(fork(script(name), [...args]));
      const [first] = (await once(child, "message")) as [First];
      return { child, first };
    },
    config(name, content) {
      const file = join(directory, `${name}.json`);
      writeFileSync(file, JSON.stringify({ gateway: { port: 0 }, state: { dir: join(directory, name) }, ...content }));
      return file;
    },
    keep() {
      isRetained = true;
    },
  };
  try {
    return await work(workshop);
  } finally {
    const exits = children.map((child) =>
      child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined,
    );
    clear();
    await Promise.all(exits);
    ended();
  }
}

/** Megabytes (10^6 bytes) of memory that a process uses. */
export function residentMb(pid: number): number {
  try {
    const kib = /^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    return (Number(kib) * 1_024) / 1e6;
  } catch {
    return (Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1_024) / 1e6;
  }
}

/** Processor time in seconds of a process and its threads. */
export function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    // Its own time and the kernel's, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    const time = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" });
    return time.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  }
}

export interface Load {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  readonly refused: number;
}

export async function load(url: string, args: Readonly<Record<string, string | number | true>>): Promise<Load> {
  const flags = Object.entries(args).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
  const port = new URL(url).port;
  const running = promisify(execFile)(process.execPath, [
    script("load.ts"),
    "--port",
    port,
    "--token",
    hookToken,
    ...flags,
  ]);
  const ended = beforeEnd(() => running.child.kill("SIGKILL"));
  const { stdout } = await running.finally(ended);
  const result = JSON.parse(stdout) as Load;
  if (result.refused > 0) throw new Error(`${result.refused} requests were refused`);
  return result;
}
