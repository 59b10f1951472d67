/** `playground`: the emulated platform alone, in its own process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { packageDirectory } from "../../contract/package.ts";
import type { CommandContext } from "../context.ts";

/** TypeScript in the repository, where the SDK is its source; JavaScript in the published package. */
const [program, flags]: readonly [string, readonly string[]] = import.meta.url.endsWith(".ts")
  ? ["plugins/playground/serve.ts", ["--conditions=service-gateway-source"]]
  : ["dist/plugins/playground/serve.js", []];

interface PlaygroundOptions {
  readonly port?: number;
  readonly token?: string;
}

export async function runPlayground(
  _: CommandContext,
  __: readonly [],
  { port, token }: PlaygroundOptions,
): Promise<number> {
  const args = [
    ...(port === undefined ? [] : [`--port=${port}`]),
    ...(token === undefined ? [] : [`--token=${token}`]),
  ];
  const child = spawn(process.execPath, [...flags, join(packageDirectory(), program), ...args], { stdio: "inherit" });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  // Ctrl+C reaches the child directly; a signal to this process alone must be forwarded.
  process.on("SIGINT", () => {}).on("SIGTERM", pass);
  const [code] = (await once(child, "close")) as [number | null];
  process.off("SIGTERM", pass);
  return code ?? 0;
}
