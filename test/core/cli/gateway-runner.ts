/**
 * Starts gateways in processes that may have served others before: most of what a start costs is loading the program.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "../../support/own-test.ts";
import { type AtEnd, createOutput, type Finished, ownFlags, type Started } from "./command.ts";
import { ask, environmentOf, openProcess } from "./command-runner.ts";

/** How long a gateway has at the end of a test before its process is killed. */
const patienceMs = 1_000;
/** Two gateways of a test run at the same time; more processes would only occupy memory. */
const mostIdle = 2;
/** Processes in which no gateway runs. */
const idle: ChildProcess[] = [];

function takeIdle(): ChildProcess | undefined {
  const at = idle.findLastIndex(({ connected }) => connected);
  return at < 0 ? undefined : idle.splice(at, 1)[0];
}

/** The process of a gateway. SIGTERM and SIGINT end the gateway, other signals are for the process. */
export type GatewayProcess = Pick<ChildProcess, "pid" | "kill" | "signalCode">;

/**
 * Like `start` of `command.ts`, for gateways that end by a signal or are killed; what they print and return is the
 * same. For one that starts its process again, or that is watched from outside, `start` is the right one.
 */
export function startGateway(
  args: readonly string[],
  options: {
    readonly home: string;
    readonly env?: Readonly<Record<string, string>>;
    /** When the gateway is ended; default: at the end of the test. */
    readonly atEnd?: AtEnd;
  },
): Started<GatewayProcess> {
  const { home, env = {}, atEnd = onTestFinished } = options;
  const host = takeIdle() ?? openProcess(ownFlags);
  const output = createOutput();
  let isRunning = true;
  let printed = { out: "", err: "" };
  const heard = (all: typeof printed) => {
    printed = all;
    output.heard(all.out + all.err);
  };
  const finished = ask(host, { args, env: environmentOf(home, env) }, heard).then(
    (result): Finished => {
      isRunning = false;
      if (idle.length < mostIdle) idle.push(host);
      else host.kill();
      return result;
    },
    (): Finished => ({ code: host.exitCode, ...printed }),
  );
  const child: GatewayProcess = {
    ...{ pid: host.pid, kill },
    get signalCode() {
      return host.signalCode;
    },
  };
  function kill(signal: NodeJS.Signals | number = "SIGTERM"): boolean {
    if (!isRunning || !host.connected) return false;
    return signal === "SIGTERM" || signal === "SIGINT" ? host.send({ signal }) : host.kill(signal);
  }
  atEnd(async () => {
    kill("SIGTERM");
    await Promise.race([finished, sleep(patienceMs, undefined, { ref: false })]);
    kill("SIGKILL");
    await finished;
  });
  return { child, finished, until: (pattern) => output.until(pattern, finished) };
}
