/** The process of a trusted module, as the gateway sees it. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { asBytes, messageHandler, onEvent, onMessage, type SourceFault } from "../listeners/index.ts";
import { readLines } from "../media/read-lines.ts";
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
  /** Sends the process a message. */
  readonly send: (message: object) => void;
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
/** UTF-16 units of a message. */
const maxMessage = 64 * 1_024 * 1_024;
/** The descriptor of the pipe for messages, in the process. */
const messagePipe = 3;
/** A process that does not answer a ping within this time is held up by code that computes. */
const pingMs = 250;

/** A line that is not JSON becomes a text, which the check refuses. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

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
  // A pipe of our own: what a module writes into Node's channel to a parent would be an exception in the gateway.
  const args = ["--no-warnings", `--max-old-space-size=${memoryMb}`, runner, file];
  const forked = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const pipe = forked.stdio[messagePipe] as Socket;
  const child: Child = {
    process: forked,
    send: (message) => void pipe.write(`${JSON.stringify(message)}\n`),
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
  const hear = messageHandler("message", { source, fault, check: asEnded, handle: on.heard });
  const tooLong = () => fault({ source, kind: "shape", event: "message", reason: "a message that is too long" });
  readLines(pipe.setEncoding("utf8"), (line) => hear(parsed(line)), {
    ...{ source, fault },
    maxChars: maxMessage,
    onTooLong: tooLong,
  });
  // The end of the process is noticed by itself.
  onEvent(pipe, "error", { source, fault, handle: () => {} });
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
  child.send({ id: ping, isPing: true });
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
