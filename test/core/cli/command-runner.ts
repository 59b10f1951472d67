/** Runs command lines in one process, which has loaded the program once: most of what a command costs is loading. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { type Finished, inherited } from "./command.ts";
import type { CommandLine, Printed } from "./command-runner-process.ts";

interface Runner {
  readonly child: ChildProcess;
  /** Resolves when the command before has ended. */
  last: Promise<unknown>;
}

/** By their slots. */
const runners = new Map<number, Runner>();

/** A process for command lines, one after the other. */
export function openProcess(execArgv: readonly string[] = []): ChildProcess {
  const { PATH, TEST_PROGRAM } = process.env;
  const env = { PATH, ...(TEST_PROGRAM === undefined ? {} : { TEST_PROGRAM }), ...inherited };
  const child = fork(join(import.meta.dirname, "command-runner-process.ts"), {
    execArgv: [...execArgv],
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // It goes with the process that has the tests.
  child.unref();
  child.channel?.unref();
  return child;
}

function openRunner(slot: number): Runner {
  const child = openProcess();
  child.once("exit", () => {
    if (runners.get(slot)?.child === child) runners.delete(slot);
  });
  const runner = { child, last: Promise.resolve() };
  runners.set(slot, runner);
  return runner;
}

type Heard = (printed: Printed) => void;

/** The environment of a command. */
export const environmentOf = (home: string, more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...{ PATH: process.env.PATH, HOME: home, NO_COLOR: "1", TZ: "UTC" },
  ...inherited,
  ...more,
});

export function ask(child: ChildProcess, line: Omit<CommandLine, "isHeard">, heard?: Heard): Promise<Finished> {
  let printed: Printed = { out: "", err: "" };
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`the process ended with ${code} in ${line.args.join(" ")}`));
    child.once("exit", ended);
    child.on("message", function listen(message: Finished | { readonly printed: Partial<Printed> }) {
      if ("printed" in message) {
        const { out = "", err = "" } = message.printed;
        printed = { out: printed.out + out, err: printed.err + err };
        return heard?.(printed);
      }
      child.off("exit", ended).off("message", listen);
      resolve(message);
    });
    child.send({ ...line, isHeard: heard !== undefined });
  });
}

/**
 * Like `run` of `command.ts`, for commands that look, change something and end; what they print and return is the same.
 */
export async function run(
  args: readonly string[],
  options: {
    readonly home: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Called with everything that the command has printed so far, each time that it prints. */
    readonly heard?: Heard;
    /**
     * The process that runs it; default 0. A command that waits for something needs another one, or all others wait for
     * it.
     */
    readonly slot?: number;
  },
): Promise<Finished> {
  const { home, env = {}, heard, slot = 0 } = options;
  const mine = runners.get(slot) ?? openRunner(slot);
  const finished = mine.last.then(() => ask(mine.child, { args, env: environmentOf(home, env) }, heard));
  mine.last = finished.catch(() => {});
  return await finished;
}
