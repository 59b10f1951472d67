/** Distributes calls to threads. A slow module must leave threads for the others. */
import { Worker } from "node:worker_threads";
import { reasonOf } from "../contract/index.ts";
import { TransformError } from "./error.ts";
import type { Level } from "./printer.ts";
import type { Batch, CallRequest, Ended, Report, WorkerSettings } from "./protocol.ts";

export type PoolCall = Omit<CallRequest, "id">;

export interface Pool {
  /** Runs a call and resolves with the result as JSON. Rejects with `TransformError`. */
  run(call: PoolCall): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly settings: WorkerSettings;
  readonly limits: () => Batch["limits"];
  readonly print: (module: string, level: Level, line: string) => void;
  readonly now: () => number;
  /** Maximum number of threads. */
  readonly size: number;
  /** Milliseconds after which an idle thread ends. The first one always stays. */
  readonly idleMs: number;
}

interface Waiting {
  readonly request: CallRequest;
  readonly resolve: (json: string | undefined) => void;
  readonly reject: (error: TransformError) => void;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}

interface Thread {
  readonly worker: Worker;
  readonly sent: Map<number, Waiting>;
  /** The modules that the thread has loaded. */
  readonly known: Set<string>;
  free: boolean;
  /** The module whose calls the thread is computing. */
  module: string | undefined;
  heardAt: number;
}

/** How many calls are sent to a thread together. If one of them is slow, those that have not begun are returned. */
const together = 32;
/** Limits a single module, and modules that exceeded a limit, to half of the threads. */
const half = (size: number): number => Math.max(1, Math.floor(size / 2));
const exceededMs = 60_000;
/** Another thread starts if calls have waited this long, or if a thread computes for a long time. */
const patienceMs = 50;
const waitMs = 30_000;
const maxWaiting = 1_000;
const maxWaitingOfModule = 600;
/**
 * A thread that computes without answering for this time is stuck, because the engine's own limits are shorter, including those for
 * compilation.
 */
const silentMs = 40_000;
const sweepMs = 5_000;
/** The engine recurses on the thread's stack, so its own limit must be reached first. */
const stackSizeMb = 16;

export function createPool({ settings, limits, print, now, size, idleMs }: PoolOptions): Pool {
  const threads = new Set<Thread>();
  /** Waiting calls by module, oldest first. The module served least recently comes first. */
  const queues = new Map<string, Waiting[]>();
  const exceeded = new Map<string, number>();
  let waiting = 0;
  let lastId = 0;
  let closed = false;
  let dispatching: NodeJS.Immediate | undefined;
  let patience: NodeJS.Timeout | undefined;
  let sweep: NodeJS.Timeout | undefined;

  const isSlow = (module: string): boolean => now() - (exceeded.get(module) ?? Number.NEGATIVE_INFINITY) < exceededMs;
  const busyWith = (test: (module: string) => boolean): number =>
    [...threads].filter(({ free, module }) => !free && module !== undefined && test(module)).length;
  const mayRun = (module: string): boolean =>
    busyWith((other) => other === module) < half(size) && (!isSlow(module) || busyWith(isSlow) < half(size));

  function startThread(): Thread {
    const worker = new Worker(new URL(`./worker${import.meta.url.slice(-3)}`, import.meta.url), {
      workerData: settings,
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { stackSizeMb },
    });
    worker.unref();
    const thread: Thread = { worker, sent: new Map(), known: new Set(), free: true, module: undefined, heardAt: now() };
    threads.add(thread);
    worker.on("message", (report: Report) => heard(thread, report));
    worker.on("error", (error: unknown) => lost(thread, `Its thread ended: ${reasonOf(error)}`));
    worker.on("exit", () => lost(thread, "Its thread ended"));
    sweep ??= setInterval(look, Math.min(sweepMs, idleMs)).unref();
    return thread;
  }

  function heard(thread: Thread, report: Report): void {
    thread.heardAt = now();
    if ("line" in report) {
      print(report.module, report.level, report.line);
      return;
    }
    for (const one of report.ended) settle(thread, one);
    for (const id of [...(report.back ?? [])].reverse()) {
      const call = thread.sent.get(id);
      if (call === undefined) continue;
      thread.sent.delete(id);
      enqueue(call, "first");
    }
    thread.free = report.free;
    if (report.computing !== undefined) thread.module = report.computing;
    dispatch(report.computing !== undefined);
  }

  function settle(thread: Thread, { id, json, error }: Ended): void {
    const call = thread.sent.get(id);
    if (call === undefined) return;
    thread.sent.delete(id);
    release(thread);
    clearTimeout(call.timer);
    if (error === undefined) {
      call.resolve(json);
      return;
    }
    if (error.kind === "timeout" || error.kind === "memory") exceeded.set(call.request.module, now());
    call.reject(new TransformError(error.kind, error.message, { where: error.where }));
  }

  /** Lets the process end if it waits for nothing else. */
  function release(thread: Thread): void {
    if (thread.sent.size === 0) thread.worker.unref();
  }

  function lost(thread: Thread, message: string): void {
    if (!threads.delete(thread)) return;
    for (const call of thread.sent.values()) {
      clearTimeout(call.timer);
      call.reject(new TransformError("exit", message));
    }
    if (!closed) dispatch();
  }

  function enqueue(call: Waiting, place: "first" | "last"): void {
    const queue = queues.get(call.request.module) ?? [];
    queues.set(call.request.module, queue);
    queue[place === "first" ? "unshift" : "push"](call);
    waiting += 1;
  }

  /** Dispatches once for all requests that arrive together, because waking a thread costs as much as a call. */
  function dispatchSoon(): void {
    dispatching ??= setImmediate(() => {
      dispatching = undefined;
      dispatch();
    });
  }

  /** Sends the calls that may run now to threads. */
  function dispatch(isBlocked = false): void {
    for (const [module, queue] of [...queues]) {
      if (!mayRun(module)) continue;
      const free = [...threads].filter((thread) => thread.free);
      const late = isBlocked || now() - (queue[0]?.since ?? now()) >= patienceMs;
      const thread =
        free.find(({ known }) => known.has(module)) ??
        free[0] ??
        (threads.size === 0 || (late && threads.size < size) ? startThread() : undefined);
      if (thread === undefined) break;
      const taken = queue.splice(0, together);
      waiting -= taken.length;
      // The module moves to the end, so that others come first next time.
      queues.delete(module);
      if (queue.length > 0) queues.set(module, queue);
      send(thread, module, taken);
    }
    if (waiting > 0 && threads.size < size) {
      patience ??= setTimeout(() => {
        patience = undefined;
        dispatch();
      }, patienceMs);
    }
  }

  function send(thread: Thread, module: string, taken: readonly Waiting[]): void {
    for (const call of taken) thread.sent.set(call.request.id, call);
    thread.free = false;
    thread.module = module;
    thread.known.add(module);
    thread.heardAt = now();
    thread.worker.ref();
    thread.worker.postMessage({ calls: taken.map(({ request }) => request), limits: limits() } satisfies Batch);
  }

  /** Ends threads that are idle or stuck. */
  function look(): void {
    for (const thread of [...threads].slice(1)) {
      if (thread.free && thread.sent.size === 0 && now() - thread.heardAt >= idleMs) void thread.worker.terminate();
    }
    for (const thread of threads) {
      if (!thread.free && now() - thread.heardAt > silentMs) void thread.worker.terminate();
    }
    for (const [module, at] of exceeded) if (now() - at >= exceededMs) exceeded.delete(module);
  }

  /** Rejects a call that was not started in time. */
  function giveUp(call: Waiting): void {
    const queue = queues.get(call.request.module);
    const at = queue?.indexOf(call) ?? -1;
    if (queue === undefined || at === -1) return;
    queue.splice(at, 1);
    waiting -= 1;
    if (queue.length === 0) queues.delete(call.request.module);
    call.reject(new TransformError("timeout", `It waited ${waitMs / 1_000} s for a free thread`));
  }

  return {
    run: (given) =>
      new Promise((resolve, reject) => {
        const queued = queues.get(given.module)?.length ?? 0;
        if (closed) return reject(new TransformError("refused", "The gateway closes"));
        if (waiting >= maxWaiting || queued >= maxWaitingOfModule) {
          return reject(new TransformError("refused", `${queued} calls of this transform and ${waiting} of all transforms wait already`));
        }
        lastId += 1;
        const request = { ...given, id: lastId };
        const call: Waiting = { request, resolve, reject, since: now(), timer: setTimeout(() => giveUp(call), waitMs) };
        enqueue(call, "last");
        dispatchSoon();
      }),
    async close() {
      closed = true;
      clearImmediate(dispatching);
      clearTimeout(patience);
      clearInterval(sweep);
      const left = [...[...queues.values()].flat(), ...[...threads].flatMap(({ sent }) => [...sent.values()])];
      queues.clear();
      for (const { timer, reject } of left) {
        clearTimeout(timer);
        reject(new TransformError("refused", "The gateway closes"));
      }
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
