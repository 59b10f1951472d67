/** Starts gateways in processes that may have served others before: most of what a start costs is loading the program. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { createOutput, type Finished, ownFlags, type Started } from "./command.ts";
import { ask, environmentOf, openProcess } from "./command-runner.ts";

/** How long a gateway has at the end of a test before its process is killed. */
const patienceMs = 1_000;
/** Processes in which no gateway runs. */
const idle: ChildProcess[] = [];

function takeIdle(): ChildProcess | undefined {
  const at = idle.findLastIndex(({ connected }) => connected);
  return at < 0 ? undefined : idle.splice(at, 1)[0];
}

/** The process of a gateway: SIGKILL is for the process, every other signal for the gateway. */
export type GatewayProcess = Pick<ChildProcess, "pid" | "kill" | "signalCode">;

/**
 * Like `start` of `command.ts`, for gateways that end by a signal or are killed; what they print and return is the same. For one that
 * starts its process again, or that is watched from outside, `start` is the right one.
 */
export function startGateway(
  args: readonly string[],
  { home, env = {} }: { readonly home: string; readonly env?: Readonly<Record<string, string>> },
): Started<GatewayProcess> {
  const host = takeIdle() ?? openProcess(ownFlags);
  const output = createOutput();
  let isRunning = true;
  let said = "";
  const heard = (all: string) => {
    said = all;
    output.heard(all);
  };
  const finished = ask(host, { args, env: environmentOf(home, env) }, heard).then(
    (result): Finished => {
      isRunning = false;
      idle.push(host);
      return result;
    },
    (): Finished => ({ code: host.exitCode, out: said, err: "" }),
  );
  const child: GatewayProcess = {
    ...{ pid: host.pid, kill },
    get signalCode() {
      return host.signalCode;
    },
  };
  function kill(signal: NodeJS.Signals | number = "SIGTERM"): boolean {
    if (!isRunning || !host.connected) return false;
    return signal === "SIGKILL" ? host.kill(signal) : host.send({ signal });
  }
  onTestFinished(async () => {
    kill("SIGTERM");
    await Promise.race([finished, sleep(patienceMs, undefined, { ref: false })]);
    kill("SIGKILL");
    await finished;
  });
  return { child, finished, until: (pattern) => output.until(pattern, finished) };
}
