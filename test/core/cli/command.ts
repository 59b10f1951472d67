import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "../../support/own-test.ts";

const main = join("core", "cli", "main.js");
const source = join(import.meta.dirname, "..", "..", "..", main);
/** The command line as the build bundles it, see `test/support/program.ts`. */
export const bundled = process.env.TEST_PROGRAM === undefined ? source : join(process.env.TEST_PROGRAM, main);

/**
 * What the processes of the tests inherit. Where Node keeps compiled code: a command switches that cache on for its
 * main thread; by this name its worker threads use it too, and need not load what strips types. In a run with another
 * store, what puts it in the place of the embedded one.
 */
const handedOn =
  process.env.SERVICE_TEST_STORE === undefined
    ? ["NODE_COMPILE_CACHE"]
    : ["NODE_COMPILE_CACHE", "NODE_OPTIONS", "SERVICE_TEST_STORE", "SERVICE_TEST_STORE_URL"];
export const inherited: Readonly<Record<string, string>> = Object.fromEntries(
  handedOn.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

/**
 * A gateway starts its process again for these flags, unless it has them: a sixth of each start. Tests of the flags set
 * `nodeArgs`.
 */
export const ownFlags = ["--max-semi-space-size=8", `--v8-pool-size=${Math.min(4, availableParallelism())}`];

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Registers what is done at the end: of a test, or of the file where several tests share it. */
export type AtEnd = (fn: () => void | Promise<void>) => void;

/** A home directory of its own, so that no test sees another's state or the user's. */
export function temporaryHome(atEnd: AtEnd = onTestFinished): string {
  const home = mkdtempSync(join(tmpdir(), "service-cli-"));
  atEnd(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

export interface Started<Child = ChildProcess> {
  readonly child: Child;
  /** Resolves with the output so far, once it matches. */
  until(pattern: RegExp): Promise<string>;
  readonly finished: Promise<Finished>;
}

/** Starts the real command line in a process of its own. */
export function start(
  args: readonly string[],
  options: {
    readonly home: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Flags of Node. With them, the source is started, where each module is a file, unless `main` says otherwise. */
    readonly nodeArgs?: readonly string[];
    /** What is started: `bundled`, or another build of the program. */
    readonly main?: string;
    /** When the process is killed; default: at the end of the test. */
    readonly atEnd?: AtEnd;
  },
): Started {
  const {
    main: file = options.nodeArgs === undefined ? bundled : source,
    nodeArgs = file === bundled ? ownFlags : [],
  } = options;
  const { atEnd = onTestFinished } = options;
  const child = spawn(process.execPath, [...nodeArgs, file, ...args], {
    env: { PATH: process.env.PATH, HOME: options.home, NO_COLOR: "1", TZ: "UTC", ...inherited, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const output = createOutput();
  const heard = () => output.heard(out + err);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    heard();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    heard();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.on("close", (code) => resolve({ code, out, err }));
  });
  atEnd(async () => {
    child.kill("SIGKILL");
    await finished;
  });
  return { child, finished, until: (pattern) => output.until(pattern, finished) };
}

/** What a process has printed so far, and who waits for it. */
export function createOutput() {
  let printed = "";
  const watchers = new Set<() => void>();
  return {
    /** It has printed more: `all` is everything so far. */
    heard(all: string) {
      printed = all;
      for (const watcher of watchers) watcher();
    },
    async until(pattern: RegExp, finished: Promise<Finished>): Promise<string> {
      const matched = new Promise<string>((resolve) => {
        const look = () => {
          if (!pattern.test(printed)) return;
          watchers.delete(look);
          resolve(printed);
        };
        watchers.add(look);
        look();
      });
      const ended = finished.then(({ code }) =>
        Promise.reject(new Error(`ended with ${code} before ${pattern}:\n${printed}`)),
      );
      return await Promise.race([matched, ended]);
    },
  };
}

export async function run(args: readonly string[], options: Parameters<typeof start>[1]): Promise<Finished> {
  return await start(args, options).finished;
}
