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
const hear = (printed: Partial<Printed>) => isHeard && process.send?.({ printed });
const exit = process.exit;
/** A gateway that has ended ends its process a little later, whatever a plugin has left open. */
let isOver = false;
process.exit = ((code?: number) => {
  if (code !== undefined) exit(code);
  isOver = true;
}) as typeof process.exit;
process.stdout.write = (chunk: string | Uint8Array) => {
  const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
  out += text;
  hear({ out: text });
  return true;
};
process.stderr.write = (chunk: string | Uint8Array) => {
  const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
  err += text;
  hear({ err: text });
  return true;
};
// Each command listens to them, because each has the process for itself.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

/** What would keep a process alive, besides the runner's own. */
const open = (): number => process.getActiveResourcesInfo().length;

export interface Printed {
  readonly out: string;
  readonly err: string;
}

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isHeard: boolean;
}

process.on("disconnect", () => exit(1));
process.on("message", async (line: CommandLine | { readonly signal: NodeJS.Signals }) => {
  if ("signal" in line) return void process.emit(line.signal, line.signal);
  const { args, env } = line;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  out = "";
  err = "";
  isHeard = line.isHeard;
  isOver = false;
  const before = open();
  const code = await runCommandLine(args);
  // A command ends when nothing is left that its process would wait for.
  while (open() > before && !isOver) await wait(2);
  // A gateway that refuses to start leaves its listeners to the end of its process.
  for (const event of ["SIGINT", "SIGTERM", "unhandledRejection", "uncaughtExceptionMonitor"])
    process.removeAllListeners(event);
  process.send?.({ code, out, err });
});
