/**
 * `hooks.transforms.runtime: "trusted"`: runs each module in a process with full access to Node. Time and memory are limited, but access is
 * not.
 */
import { type ChildProcess, fork } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TransformError } from "./error.ts";
import { listModules } from "./list.ts";
import type { Pool, PoolCall, PoolOptions } from "./pool.ts";
import type { Ended } from "./protocol.ts";
import { resolveModule } from "./root.ts";

interface Waiting {
  readonly call: PoolCall;
  readonly resolve: (json: string | undefined) => void;
  readonly reject: (error: TransformError) => void;
  readonly timer: NodeJS.Timeout;
}

interface Child {
  readonly process: ChildProcess;
  /** The state of the root's files when the process was started. */
  readonly mark: string;
  /** Pending calls in the order in which they were sent. */
  readonly sent: Map<number, Waiting>;
  cause: TransformError | undefined;
  usedAt: number;
}

const runner = fileURLToPath(new URL(`./trusted-runner${import.meta.url.slice(-3)}`, import.meta.url));
const sweepMs = 5_000;
const keptComplaint = 4_096;

export function createTrusted({
  memoryMb,
  limits,
  print,
  now,
  idleMs,
}: Pick<PoolOptions, "limits" | "print" | "now" | "idleMs"> & { readonly memoryMb: number }): Pool {
  const children = new Map<string, Child>();
  let lastId = 0;
  const sweep = setInterval(
    () => {
      for (const [module, child] of children) if (child.sent.size === 0 && now() - child.usedAt >= idleMs) drop(module, child);
    },
    Math.min(sweepMs, idleMs),
  ).unref();

  /** Ends the process once its calls have ended. */
  function drop(module: string, child: Child): void {
    if (children.get(module) === child) children.delete(module);
    if (child.sent.size === 0) child.process.kill();
  }

  function start(module: string, file: string, mark: string): Child {
    const forked = fork(runner, [file], {
      execArgv: ["--no-warnings", `--max-old-space-size=${memoryMb}`],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      serialization: "json",
    });
    const child: Child = { process: forked, mark, sent: new Map(), cause: undefined, usedAt: now() };
    children.set(module, child);
    let complaint = "";
    forked.stdout?.on("data", (chunk: Buffer) => printLines(module, "info", chunk));
    forked.stderr?.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-keptComplaint);
      printLines(module, "warn", chunk);
    });
    forked.on("message", (ended) => settle(module, child, ended as Ended));
    forked.on("error", (error) => gone(module, child, `Its process cannot be started: ${error.message}`));
    forked.on("close", (code, signal) => {
      const isMemory = /heap out of memory|Allocation failed/.test(complaint);
      if (isMemory) child.cause ??= new TransformError("memory", `It used more than ${memoryMb} MB (hooks.transforms.memoryMb)`);
      gone(module, child, `Its process ended ${signal === null ? `with code ${code}` : `by ${signal}`}`);
    });
    return child;
  }

  function printLines(module: string, level: "info" | "warn", chunk: Buffer): void {
    for (const line of chunk.toString().split("\n")) if (line !== "") print(module, level, line);
  }

  function settle(module: string, child: Child, { id, json, error }: Ended): void {
    const waiting = child.sent.get(id);
    if (waiting === undefined) return;
    child.sent.delete(id);
    clearTimeout(waiting.timer);
    child.usedAt = now();
    if (error === undefined) waiting.resolve(json);
    else waiting.reject(new TransformError(error.kind, error.message, { where: error.where }));
    if (child.sent.size > 0) return;
    child.process.unref();
    if (children.get(module) !== child) child.process.kill();
  }

  /** The call that was sent first is assumed to have ended the process. The others are repeated. */
  function gone(module: string, child: Child, message: string): void {
    if (children.get(module) === child) children.delete(module);
    const [first, ...others] = child.sent.values();
    child.sent.clear();
    clearTimeout(first?.timer);
    first?.reject(child.cause ?? new TransformError("exit", message));
    for (const { call, timer, resolve, reject } of others) {
      clearTimeout(timer);
      send(call, resolve, reject);
    }
  }

  function send(call: PoolCall, resolve: Waiting["resolve"], reject: Waiting["reject"]): void {
    const { file } = resolveModule(call.root, call.module);
    const mark = markOf(call.root);
    let child = children.get(call.module);
    if (child !== undefined && child.mark !== mark) drop(call.module, child);
    if (child === undefined || child.mark !== mark) child = start(call.module, file, mark);
    const own = child;
    lastId += 1;
    const { timeoutMs } = limits();
    const timer = setTimeout(() => {
      own.cause = new TransformError("timeout", `It did not answer within ${timeoutMs / 1_000} s (hooks.transforms.timeoutSeconds)`);
      own.process.kill("SIGKILL");
    }, timeoutMs);
    own.sent.set(lastId, { call, resolve, reject, timer });
    own.process.ref();
    own.process.send({ id: lastId, export: call.export, context: call.context }, () => {});
  }

  return {
    run: (call) => new Promise((resolve, reject) => send(call, resolve, reject)),
    async close() {
      clearInterval(sweep);
      for (const child of children.values()) {
        child.cause = new TransformError("refused", "The gateway closes");
        const exit = new Promise((resolve) => child.process.once("exit", resolve));
        child.process.kill("SIGKILL");
        await exit;
      }
    },
  };
}

/** The state of all modules of a root, because a process that has loaded one of them may have loaded others. */
function markOf(root: string): string {
  return listModules(root)
    .map(({ module }) => {
      const stats = statSync(join(root, module), { throwIfNoEntry: false });
      return `${module}:${stats?.ino}:${stats?.size}:${stats?.mtimeMs}`;
    })
    .join();
}
