/** Runs command lines in one process, which has loaded the program once: most of what a command costs is loading. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { type Finished, inherited } from "./command.ts";
import type { CommandLine } from "./command-runner-process.ts";

interface Runner {
  readonly child: ChildProcess;
  /** Resolves when the command before has ended. */
  last: Promise<unknown>;
}

let runner: Runner | undefined;

function openRunner(): Runner {
  const { PATH, TEST_PROGRAM } = process.env;
  const env = { PATH, ...(TEST_PROGRAM === undefined ? {} : { TEST_PROGRAM }), ...inherited };
  const child = fork(join(import.meta.dirname, "command-runner-process.ts"), {
    execArgv: [],
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // It goes with the process that has the tests.
  child.unref();
  child.channel?.unref();
  child.once("exit", () => {
    if (runner?.child === child) runner = undefined;
  });
  return { child, last: Promise.resolve() };
}

type Heard = (said: string) => void;

function ask({ child }: Runner, line: Omit<CommandLine, "isHeard">, heard?: Heard): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the process ended with ${code} in ${line.args.join(" ")}`));
    child.once("exit", ended);
    child.on("message", function listen(message: Finished | { readonly said: string }) {
      if ("said" in message) return heard?.(message.said);
      child.off("exit", ended).off("message", listen);
      resolve(message);
    });
    child.send({ ...line, isHeard: heard !== undefined });
  });
}

/** Like `run` of `command.ts`, for commands that look, change something and end; what they print and return is the same. */
export async function run(
  args: readonly string[],
  options: {
    readonly home: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Called with everything that the command has printed so far, each time that it prints. */
    readonly heard?: Heard;
  },
): Promise<Finished> {
  const { home, env = {}, heard } = options;
  runner ??= openRunner();
  const mine = runner;
  const finished = mine.last.then(() =>
    ask(mine, { args, env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", TZ: "UTC", ...inherited, ...env } }, heard),
  );
  mine.last = finished.catch(() => {});
  return await finished;
}
