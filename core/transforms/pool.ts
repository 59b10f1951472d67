/** Distributes calls to threads. A slow module must leave threads for the others. */
import { TransformError } from "./error.ts";
import type { Computing } from "./meter.ts";
import type { Level } from "./printer.ts";
import type { Batch, CallRequest, Ended, Report, WorkerSettings } from "./protocol.ts";
import { Thread, type ThreadEnd } from "./thread.ts";
import { createThreadWatch } from "./thread-watch.ts";
import { createWaitingCalls } from "./waiting-calls.ts";

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

/** How many calls are sent to a thread together. If one of them is slow, those that have not begun are returned. */
const together = 32;
/** Limits a single module, and modules that exceeded a limit, to half of the threads. */
const half = (size: number): number => Math.max(1, Math.floor(size / 2));
const exceededMs = 60_000;
/** Another thread starts if calls have waited this long, or if a thread computes for a long time. */
const patienceMs = 50;
/**
 * A thread that computes without answering for this time is stuck, because the engine's own limits are shorter,
 * including those for compilation.
 */
const silentMs = 40_000;
const sweepMs = 5_000;

export function createPool({ settings, limits, print, now, size, idleMs }: PoolOptions): Pool {
  const threads = new Set<Thread>();
  const waiting = createWaitingCalls();
  /** When a module last exceeded a limit. */
  const exceeded = new Map<string, number>();
  let lastId = 0;
  let closed = false;
  let dispatching: NodeJS.Immediate | undefined;
  let patience: NodeJS.Timeout | undefined;
  let sweep: NodeJS.Timeout | undefined;
  const watch = createThreadWatch({
    ...{ threads, now },
    onLate(thread, computing) {
      leave(
        thread,
        computing,
        new TransformError("timeout", `It computed for more than ${limits().cpuMs} ms (hooks.transforms.cpuMs)`),
      );
      void thread.end();
    },
  });

  const isSlow = (module: string): boolean => now() - (exceeded.get(module) ?? Number.NEGATIVE_INFINITY) < exceededMs;
  const busyWith = (test: (module: string) => boolean): number =>
    [...threads].filter(({ free, module }) => !free && module !== undefined && test(module)).length;
  const mayRun = (module: string): boolean =>
    busyWith((other) => other === module) < half(size) && (!isSlow(module) || busyWith(isSlow) < half(size));

  function startThread(): Thread {
    const thread = new Thread({ settings, now, heard, lost });
    threads.add(thread);
    sweep ??= setInterval(look, Math.min(sweepMs, idleMs)).unref();
    return thread;
  }

  function heard(thread: Thread, report: Report): void {
    if ("line" in report) {
      print(report.module, report.level, report.line);
      return;
    }
    if ("requests" in report) {
      thread.requesting.add(report.requests);
      return;
    }
    for (const one of report.ended) settle(thread, one);
    for (const id of [...(report.back ?? [])].reverse()) {
      const call = thread.take(id);
      if (call !== undefined) waiting.putBack(call);
    }
    thread.free = report.free;
    if (report.computing !== undefined) thread.module = report.computing;
    dispatch(report.computing !== undefined);
  }

  function settle(thread: Thread, { id, json, error }: Ended): void {
    const call = thread.take(id);
    if (call === undefined) return;
    if (error === undefined) {
      call.resolve(json);
      return;
    }
    if (error.kind === "timeout" || error.kind === "memory") exceeded.set(call.request.module, now());
    call.reject(new TransformError(error.kind, error.message, { where: error.where }));
  }

  /** A thread has ended by itself. If the code of a call was computing, it has caused that. */
  function lost(thread: Thread, { message, isMemory }: ThreadEnd): void {
    const cause = isMemory
      ? new TransformError("memory", `It used more than ${settings.memoryMb} MB (hooks.transforms.memoryMb)`)
      : new TransformError("exit", message);
    leave(thread, thread.computing(), cause);
  }

  /**
   * Gives up a thread. The call that computed fails, and with it the others of its module if that was being loaded.
   * Those that may have changed something elsewhere fail too. The rest runs again, in another thread.
   */
  function leave(thread: Thread, guilty: Computing | undefined, cause: TransformError): void {
    if (!threads.delete(thread)) return;
    const module = guilty === undefined ? thread.module : thread.sent.get(guilty.request)?.request.module;
    if (module !== undefined && thread.sent.size > 0) exceeded.set(module, now());
    for (const [id, call] of [...thread.sent].reverse()) {
      const isGuilty = id === guilty?.request || (guilty?.isLoading === true && call.request.module === module);
      if (guilty === undefined || isGuilty) call.reject(cause);
      else if (thread.requesting.has(id))
        call.reject(new TransformError("exit", "Its thread was ended because of another transform"));
      else waiting.putBack(call);
    }
    thread.sent.clear();
    if (!closed) dispatch();
  }

  /** Sends the calls that may run now to threads. */
  function dispatch(isBlocked = false): void {
    dispatching = undefined;
    for (const { module, since } of waiting.modules()) {
      if (!mayRun(module)) continue;
      const free = [...threads].filter((thread) => thread.free);
      const late = isBlocked || now() - since >= patienceMs;
      const thread =
        free.find(({ known }) => known.has(module)) ??
        free[0] ??
        (threads.size === 0 || (late && threads.size < size) ? startThread() : undefined);
      if (thread === undefined) break;
      thread.send(waiting.take(module, together), { module, limits: limits(), at: now() });
      watch.start();
    }
    if (waiting.modules().length > 0 && threads.size < size) {
      patience ??= setTimeout(() => {
        patience = undefined;
        dispatch();
      }, patienceMs);
    }
  }

  /** Ends threads that are idle or stuck, and calls that have waited too long. */
  function look(): void {
    waiting.giveUp(now());
    for (const thread of [...threads].slice(1)) {
      if (thread.free && thread.sent.size === 0 && now() - thread.heardAt >= idleMs) void thread.end();
    }
    for (const thread of threads) {
      if (!thread.free && now() - thread.heardAt > silentMs) void thread.end();
    }
    for (const [module, at] of exceeded) if (now() - at >= exceededMs) exceeded.delete(module);
  }

  return {
    run: (given) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new TransformError("refused", "The gateway closes"));
        lastId += 1;
        waiting.add({ request: { ...given, id: lastId }, resolve, reject, since: now() });
        /** Dispatches once for all requests that arrive together, because waking a thread costs as much as a call. */
        dispatching ??= setImmediate(dispatch);
      }),
    async close() {
      closed = true;
      clearImmediate(dispatching);
      clearTimeout(patience);
      clearInterval(sweep);
      watch.end();
      const pending = [...waiting.takeAll(), ...[...threads].flatMap(({ sent }) => [...sent.values()])];
      for (const { reject } of pending) reject(new TransformError("refused", "The gateway closes"));
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}
