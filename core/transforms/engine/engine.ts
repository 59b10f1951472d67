/**
 * A JavaScript engine without access to the host, running one module: QuickJS compiled to WebAssembly, with its own
 * memory. Only strings go in and out, so that code cannot reach any object of Node's. Computing time is limited by
 * measurement, by the clock and by the thread's CPU time; memory by the size of the WebAssembly memory.
 */
import type { QuickJSHandle } from "quickjs-emscripten-core";
import { type Meter, mostTimesCpu, type Spent, threadCpuMs } from "../meter.ts";
import type { Files } from "../modules/files.ts";
import type { Level } from "../printer.ts";
import { type Call, createCallEffects, newCall, type Outcome } from "./call-effects.ts";
import { createErrorPlaces } from "./error-place.ts";
import { failures } from "./failures.ts";
import { connectGuest } from "./guest-side.ts";
import type { QuickJs } from "./quickjs.ts";

export interface EngineOptions {
  readonly quickjs: QuickJs;
  readonly files: Files;
  /** The module's path below the root: `/a.ts`. */
  readonly entry: string;
  readonly memoryMb: number;
  readonly print: (level: Level, line: string) => void;
  /** Called periodically while code is computing, with the milliseconds since it was entered. */
  readonly computing: (ms: number) => void;
  /** Total time that the host has spent compiling. It does not count against the code. */
  readonly compiled: () => Spent;
  /** Notes from outside what computes, for the case that an operation of the engine never comes to its own check. */
  readonly meter: Meter;
  /** Sends a request; absent unless `hooks.transforms.network` is set. */
  readonly fetch?: ((request: unknown, by: Pick<Call, "request">) => Promise<string>) | undefined;
}

/** Reading the CPU time takes longer than a usual call, so it is not read for the first milliseconds. */
const unmeasuredMs = 10;

type Begun = Pick<Call, "request" | "limits" | "done">;

/**
 * Both methods report through a callback, synchronously if nothing is pending. A promise would resolve only after a
 * loop that follows.
 */
export interface Engine {
  /** Loads the module. The outcome lists the functions that it exports. */
  load(begun: Begun): void;
  call(name: string, contextJson: string, begun: Begun): void;
  /** Whether a call exceeded a limit, so that the next one needs a new engine. */
  readonly isSpent: () => boolean;
}

export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { quickjs, files, entry, memoryMb, print, computing, compiled, meter, fetch } = options;
  const { runtime, context } = await quickjs.create(memoryMb);
  const calls = new Map<number, Call>();
  const placed = createErrorPlaces(files.read);
  /** The call that is currently computing. */
  let current: Call | undefined;
  let enteredAt = 0;
  let cpuBefore: number | undefined;
  let spent = false;
  let interrupted = false;
  let interruptedAt: string | undefined;
  let lastId = 0;

  const clockMs = (): number => performance.now() - compiled().clock;
  const cpuMs = (): number => threadCpuMs() - compiled().cpu;
  const leftMs = ({ limits, spentMs }: Call): number => Math.min(limits.cpuMs, limits.timeoutMs) - spentMs;

  /** What counts against the limit. */
  function computedMs(ms = clockMs() - enteredAt): number {
    if (ms <= unmeasuredMs) return ms;
    cpuBefore ??= cpuMs();
    return Math.min(ms, unmeasuredMs + mostTimesCpu * (cpuMs() - cpuBefore));
  }

  /** Asked by the engine every ten thousand steps, and before and after each operation of the host. */
  function isOver(): boolean {
    if (current === undefined) return false;
    const ms = clockMs() - enteredAt;
    computing(ms);
    if (ms > unmeasuredMs) cpuBefore ??= cpuMs();
    const left = leftMs(current);
    interrupted ||= ms > left && (computedMs(ms) > left || ms > current.limits.timeoutMs);
    return interrupted;
  }
  runtime.setInterruptHandler(isOver);

  const effects = createCallEffects({ calls, current: () => current, enter, print, fetch });
  const guest = connectGuest({
    ...{ runtime, context, guestSource: quickjs.guestSource, files, entry, effects, isOver, settle },
    hasNetwork: fetch !== undefined,
  });

  /** Runs code for a call until it has nothing more to do synchronously. */
  function enter(call: Call, name: string, ...given: readonly (string | number)[]): void {
    if (!calls.has(call.id)) return;
    current = call;
    enteredAt = clockMs();
    cpuBefore = undefined;
    interrupted = false;
    meter.begin(call.request, leftMs(call), name === "load");
    try {
      const called = guest.call(name, ...given);
      if (called.error !== undefined) left(call, called.error);
      // A string is the result of a call that did not wait for anything.
      else
        called.value.consume(
          (value) => context.typeof(value) === "string" && settle(call.id, "value", context.getString(value)),
        );
      // Jobs run one at a time, because none may run after the limit is reached.
      while (runtime.hasPendingJob() && !isOver()) {
        const job = runtime.executePendingJobs(1);
        if (job.error !== undefined) left(call, job.error);
      }
    } catch (error) {
      broken(error);
    }
    meter.end();
    call.spentMs += computedMs();
    current = undefined;
    if (interrupted) {
      spent = true;
      end(call, failures.computed(call.limits, interruptedAt));
    } else if (call.settled !== undefined) end(call, call.settled.outcome);
    else if ([...calls.values()].every(({ timers, requests }) => timers.size === 0 && requests === 0)) {
      end(call, failures.stuck());
    }
  }

  /** Handles an error thrown out of the code: from memory, a limit, or a timer's function. */
  function left(call: Call, error: QuickJSHandle): void {
    if (interrupted) {
      interruptedAt = error.consume((handle) => context.dump(handle) as { readonly stack?: string }).stack;
      return;
    }
    const { name, message } = error.consume(
      (handle) => context.dump(handle) as { readonly name?: unknown; readonly message?: unknown },
    );
    if (message === "out of memory") overMemory(call);
    else effects.print("warn", `a timer of the transform failed: ${String(name)}: ${String(message)}`);
  }

  function overMemory(call: Call): void {
    spent = true;
    call.settled = { outcome: failures.memory(memoryMb) };
  }

  /** Handles a failure of the engine itself, after which it cannot be used again. */
  function broken(error: unknown): void {
    spent = true;
    const cause = error instanceof RangeError ? failures.stack() : failures.memory(memoryMb);
    for (const call of calls.values()) end(call, cause);
  }

  function settle(id: number, kind: string | undefined, text = "", stack = ""): void {
    const call = calls.get(id);
    if (call === undefined || call.settled !== undefined) return;
    if (kind === "value") call.settled = { outcome: text === "" ? undefined : text };
    else if (text === "out of memory") overMemory(call);
    else
      call.settled = {
        outcome: failures.thrown({ kind, text, stack: placed(text, stack), isRefusal: guest.isRefusal }),
      };
  }

  function end(call: Call, outcome: Outcome): void {
    if (!calls.delete(call.id)) return;
    clearTimeout(call.deadline);
    for (const [id, timer] of call.timers) {
      clearTimeout(timer);
      if (!spent) context.unwrapResult(guest.call("forget", id)).dispose();
    }
    call.done(outcome);
  }

  /** `verb` is what the call does, for the sentence when it is late. */
  function begin({ request, limits, done }: Begun, verb: string, name: string, ...given: readonly string[]): void {
    lastId += 1;
    const call = newCall({ id: lastId, request, limits, done });
    calls.set(call.id, call);
    enter(call, name, call.id, ...given);
    if (!calls.has(call.id)) return;
    call.deadline = setTimeout(
      () => end(call, failures.late(limits, verb)),
      Math.max(0, limits.timeoutMs - call.spentMs),
    );
  }

  return {
    load: (begun) => begin(begun, "load", "load", entry),
    call: (name, contextJson, begun) => begin(begun, "answer", "call", name, contextJson),
    isSpent: () => spent,
  };
}
