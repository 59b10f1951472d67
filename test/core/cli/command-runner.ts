/** Runs command lines in one process, which has loaded the program once: most of what a command costs is loading. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { type Finished, inherited } from "./command.ts";

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

function ask({ child }: Runner, args: readonly string[], env: object): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the process ended with ${code} in ${args.join(" ")}`));
    child.once("exit", ended);
    child.once("message", (finished) => {
      child.off("exit", ended);
      resolve(finished as Finished);
    });
    child.send({ args, env });
  });
}

/** Like `run` of `command.ts`, for commands that look, change something and end; what they print and return is the same. */
export async function run(
  args: readonly string[],
  { home, env = {} }: { readonly home: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Finished> {
  runner ??= openRunner();
  const mine = runner;
  const finished = mine.last.then(() =>
    ask(mine, args, { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", TZ: "UTC", ...inherited, ...env }),
  );
  mine.last = finished.catch(() => {});
  return await finished;
}
