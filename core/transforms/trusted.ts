/**
 * `hooks.transforms.runtime: "trusted"`: runs each module in a process with full access to Node. Time and memory are
 * limited, but access is not.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reasonOf } from "../contract/index.ts";
import { faultText, type SourceFault } from "../listeners/index.ts";
import { TransformError } from "./error.ts";
import { listModules } from "./list.ts";
import type { Pool, PoolCall, PoolOptions } from "./pool.ts";
import type { Ended } from "./protocol.ts";
import { createRepeats } from "./repeats.ts";
import { resolveModule } from "./root.ts";
import { type Child, endIfHeldUp, endProcess, forkModule, type Waiting } from "./trusted-process.ts";

const runner = fileURLToPath(new URL(`./trusted-runner${import.meta.url.slice(-3)}`, import.meta.url));
const sweepMs = 5_000;

interface TrustedOptions extends Pick<PoolOptions, "limits" | "print" | "now" | "idleMs"> {
  readonly memoryMb: number;
  /** Maximum number of processes that repeat calls. */
  readonly size: number;
}

export function createTrusted({ memoryMb, limits, print, now, size, idleMs }: TrustedOptions): Pool {
  /** The process of each module for new calls. */
  const children = new Map<string, Child>();
  /** All processes, including those that only finish their calls. */
  const running = new Set<Child>();
  const repeats = createRepeats(size, repeat);
  let lastId = 0;
  let closed = false;
  const sweep = setInterval(
    () => {
      for (const [module, child] of children)
        if (child.sent.size === 0 && now() - child.usedAt >= idleMs) drop(module, child);
    },
    Math.min(sweepMs, idleMs),
  ).unref();

  /** Ends the process once its calls have ended. */
  function drop(module: string, child: Child): void {
    if (children.get(module) === child) children.delete(module);
    if (child.sent.size === 0) child.process.kill();
  }

  const start = (module: string, file: string, mark: string): Child => {
    const child = forkModule(
      { runner, file, mark, memoryMb, usedAt: now() },
      {
        print: (level, line) => print(module, level, line),
        heard: (ended) => settle(module, child, ended),
        gone: (message) => gone(module, child, message),
        fault: (fault) => spoil(child, fault),
      },
    );
    running.add(child);
    return child;
  };

  /**
   * The module has sent something over the channel of its process. The call that did so is found as one that ends its
   * process.
   */
  function spoil(child: Child, fault: SourceFault): void {
    if (child.cause !== undefined) return;
    child.cause = new TransformError(
      "exit",
      faultText(fault).replace(/^./, (letter) => letter.toUpperCase()),
    );
    child.process.kill("SIGKILL");
  }

  function settle(module: string, child: Child, { id, json, error }: Ended): void {
    child.pings.get(id)?.();
    const waiting = child.sent.get(id);
    if (waiting === undefined) return;
    child.sent.delete(id);
    clearTimeout(waiting.timer);
    child.isUsed = true;
    child.usedAt = now();
    if (error === undefined) waiting.resolve(json);
    else waiting.reject(new TransformError(error.kind, error.message, { where: error.where }));
    if (child.sent.size > 0) return;
    child.process.unref();
    if (children.get(module) !== child) child.process.kill();
  }

  /** A call has reached its time. If it only waits, it fails, and its process ends after the other calls. */
  function late(module: string, child: Child, id: number): void {
    const seconds = (child.sent.get(id)?.timeoutMs ?? 0) / 1_000;
    const message = `It did not answer within ${seconds} s (hooks.transforms.timeoutSeconds)`;
    lastId += 1;
    endIfHeldUp(child, { ping: lastId, cause: new TransformError("timeout", message) }, () => {
      if (children.get(module) === child) children.delete(module);
      settle(module, child, { id, error: { kind: "timeout", message, where: undefined } });
    });
  }

  /**
   * A call that was alone in its process has ended it. Of several calls, each half is repeated in a process of its own,
   * until that call is alone.
   */
  function gone(module: string, child: Child, message: string): void {
    running.delete(child);
    if (children.get(module) === child) children.delete(module);
    const calls = [...child.sent.values()];
    child.sent.clear();
    for (const { timer } of calls) clearTimeout(timer);
    const error = child.cause ?? new TransformError("exit", message);
    if (closed || (calls.length === 1 && (!child.isUsed || error.kind === "timeout")))
      for (const { reject } of calls) reject(error);
    else repeats.add(module, calls);
    repeats.ended(child);
  }

  function repeat(module: string, calls: readonly Waiting[]): Child | undefined {
    try {
      const { file } = resolveModule(calls[0]?.call.root ?? "", module);
      const child = start(module, file, "");
      for (const waiting of calls) post(module, child, waiting);
      return child;
    } catch (error) {
      for (const { reject } of calls)
        reject(error instanceof TransformError ? error : new TransformError("exit", reasonOf(error)));
      return undefined;
    }
  }

  function send(call: PoolCall, resolve: Waiting["resolve"], reject: Waiting["reject"]): void {
    if (closed) throw closing();
    const { module } = call;
    const { file } = resolveModule(call.root, module);
    const mark = markOf(call.root);
    let child = children.get(module);
    if (child !== undefined && child.mark !== mark) drop(module, child);
    if (child === undefined || child.mark !== mark) child = start(module, file, mark);
    children.set(module, child);
    post(module, child, { call, resolve, reject, timeoutMs: limits().timeoutMs });
  }

  function post(module: string, child: Child, waiting: Waiting): void {
    lastId += 1;
    const id = lastId;
    waiting.timer = setTimeout(() => late(module, child, id), waiting.timeoutMs);
    child.sent.set(id, waiting);
    child.process.ref();
    child.send({ id, export: waiting.call.export, context: waiting.call.context });
  }

  return {
    run: (call) => new Promise((resolve, reject) => send(call, resolve, reject)),
    async close() {
      closed = true;
      clearInterval(sweep);
      repeats.close(closing());
      await Promise.all([...running].map((child) => endProcess(child, closing())));
    },
  };
}

const closing = () => new TransformError("refused", "The gateway closes");

/** The state of all modules of a root, because a process that has loaded one of them may have loaded others. */
function markOf(root: string): string {
  return listModules(root)
    .map(({ module }) => {
      const stats = statSync(join(root, module), { throwIfNoEntry: false });
      return `${module}:${stats?.ino}:${stats?.size}:${stats?.mtimeMs}`;
    })
    .join();
}
