/** The process of a trusted module, as the gateway sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { asBytes, onEvent, onMessage, type SourceFault } from "../listeners/index.ts";
import { asEnded } from "./check-report.ts";
import { TransformError } from "./error.ts";
import type { PoolCall } from "./pool.ts";
import type { Ended } from "./protocol.ts";

export interface Waiting {
  readonly call: PoolCall;
  readonly resolve: (json: string | undefined) => void;
  readonly reject: (error: TransformError) => void;
  readonly timeoutMs: number;
  timer?: NodeJS.Timeout;
}

export interface Child {
  readonly process: ChildProcess;
  /** The state of the root's files when the process was started. */
  readonly mark: string;
  /** Pending calls in the order in which they were sent. */
  readonly sent: Map<number, Waiting>;
  /** What to do when the process answers a ping. */
  readonly pings: Map<number, () => void>;
  cause: TransformError | undefined;
  /**
   * Whether a call has ended in it. What that call left behind, such as a rejected promise, can end the process later.
   */
  isUsed: boolean;
  usedAt: number;
}

const maxComplaint = 4_096;
/** A process that does not answer a ping within this time is held up by code that computes. */
const pingMs = 250;

export function forkModule(
  {
    runner,
    file,
    mark,
    memoryMb,
    usedAt,
  }: {
    readonly runner: string;
    readonly file: string;
    readonly mark: string;
    readonly memoryMb: number;
    readonly usedAt: number;
  },
  on: {
    readonly print: (level: "info" | "warn", line: string) => void;
    readonly heard: (ended: Ended) => void;
    readonly gone: (message: string) => void;
    /** The process has sent something that is not of the gateway's own code. */
    readonly fault: (fault: SourceFault) => void;
  },
): Child {
  const forked = fork(runner, [file], {
    execArgv: ["--no-warnings", `--max-old-space-size=${memoryMb}`],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    serialization: "json",
  });
  const child: Child = {
    process: forked,
    mark,
    sent: new Map(),
    pings: new Map(),
    cause: undefined,
    isUsed: false,
    usedAt,
  };
  const printLines = (level: "info" | "warn", chunk: Buffer): void => {
    for (const line of chunk.toString().split("\n")) if (line !== "") on.print(level, line);
  };
  let complaint = "";
  const source = "its process";
  const { fault } = on;
  const end = (reason: string) => on.gone(`Its process cannot be started: ${reason}`);
  if (forked.stdout !== null)
    onMessage(forked.stdout, "data", { source, fault, check: asBytes, handle: (chunk) => printLines("info", chunk) });
  if (forked.stderr !== null) {
    onMessage(forked.stderr, "data", {
      ...{ source, fault, check: asBytes },
      handle(chunk) {
        complaint = (complaint + chunk.toString()).slice(-maxComplaint);
        printLines("warn", chunk);
      },
    });
  }
  onMessage(forked, "message", { source, fault, check: asEnded, handle: on.heard });
  onEvent<readonly [Error]>(forked, "error", { source, fault, handle: ({ message }) => end(message) });
  onEvent<readonly [number | null, string | null]>(forked, "close", {
    ...{ source, fault },
    handle(code, signal) {
      const isMemory = /heap out of memory|Allocation failed/.test(complaint);
      if (isMemory)
        child.cause ??= new TransformError("memory", `It used more than ${memoryMb} MB (hooks.transforms.memoryMb)`);
      on.gone(`Its process ended ${signal === null ? `with code ${code}` : `by ${signal}`}`);
    },
  });
  return child;
}

/**
 * Pings the process, and calls `answered` if it responds. Otherwise one of its calls blocks it, and the process is
 * killed.
 */
export function endIfHeldUp(
  child: Child,
  { ping, cause }: { readonly ping: number; readonly cause: TransformError },
  answered: () => void,
): void {
  const silent = setTimeout(() => {
    child.cause = cause;
    child.process.kill("SIGKILL");
  }, pingMs);
  child.pings.set(ping, () => {
    clearTimeout(silent);
    child.pings.delete(ping);
    answered();
  });
  child.process.send({ id: ping, isPing: true }, () => {});
}

export async function endProcess(child: Child, cause: TransformError): Promise<void> {
  const { exitCode, signalCode } = child.process;
  child.cause = cause;
  if (exitCode !== null || signalCode !== null) return;
  const exit = new Promise<void>((resolve) => {
    onEvent(child.process, "exit", { source: "its process", handle: resolve, once: true });
  });
  // A process at rest does not keep the gateway alive, but its end is waited for.
  child.process.ref();
  child.process.kill("SIGKILL");
  await exit;
}
