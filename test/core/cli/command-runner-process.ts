/** Runs one command line after the other, each as if it were alone: with an environment and an output of its own. */
import nodeModule from "node:module";
import { setTimeout as wait } from "node:timers/promises";

nodeModule.enableCompileCache();
const { TEST_PROGRAM } = process.env;
const program = TEST_PROGRAM === undefined ? "../../../core/cli/program.ts" : `${TEST_PROGRAM}/core/cli/program.js`;
const { runCommandLine } = (await import(program)) as typeof import("../../../core/cli/program.ts");

let out = "";
let err = "";
/** Whether the other side hears what a command prints while it runs. */
let isHeard = false;
const hear = () => isHeard && process.send?.({ said: out + err });
process.stdout.write = (chunk: string | Uint8Array) => {
  out += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
  hear();
  return true;
};
process.stderr.write = (chunk: string | Uint8Array) => {
  err += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
  hear();
  return true;
};
// Each command listens to it, because each has the process for itself.
process.stdout.setMaxListeners(0);

/** What would keep a process alive, besides the runner's own. */
const open = (): number => process.getActiveResourcesInfo().length;

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isHeard: boolean;
}

process.on("message", async (line: CommandLine) => {
  const { args, env } = line;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  out = "";
  err = "";
  isHeard = line.isHeard;
  const before = open();
  const code = await runCommandLine(args);
  // A command ends when nothing is left that its process would wait for.
  while (open() > before) await wait(2);
  // A gateway that refuses to start leaves its listeners to the end of its process.
  for (const event of ["SIGINT", "SIGTERM", "unhandledRejection", "uncaughtExceptionMonitor"]) process.removeAllListeners(event);
  process.send?.({ code, out, err });
});
