/**
 * A JavaScript engine without access to the host, running one module: QuickJS compiled to WebAssembly, with its own memory. Only strings go
 * in and out, so that code cannot reach any object of Node's. Computing time is limited by measurement, memory by the size of the
 * WebAssembly memory.
 */
import type { QuickJSHandle } from "quickjs-emscripten-core";
import { type Call, type CallLimits, createCallEffects, type Outcome } from "./call-effects.ts";
import { TransformError } from "./error.ts";
import type { Files } from "./files.ts";
import { connectGuest } from "./guest-side.ts";
import type { Level } from "./printer.ts";
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
  /** Total milliseconds that the host has spent compiling. They do not count against the code. */
  readonly compiledMs: () => number;
  /** Sends a request; absent unless `hooks.transforms.network` is set. */
  readonly fetch?: ((request: unknown) => Promise<string>) | undefined;
}

/** Both methods report through a callback, synchronously if nothing is pending. A promise would resolve only after a loop that follows. */
export interface Engine {
  /** Loads the module. The outcome lists the functions that it exports. */
  load(limits: CallLimits, done: (outcome: Outcome) => void): void;
  call(name: string, contextJson: string, limits: CallLimits, done: (outcome: Outcome) => void): void;
  /** Whether a call exceeded a limit, so that the next one needs a new engine. */
  readonly isSpent: () => boolean;
}

export async function createEngine({
  quickjs,
  files,
  entry,
  memoryMb,
  print,
  computing,
  compiledMs,
  fetch,
}: EngineOptions): Promise<Engine> {
  const { runtime, context } = await quickjs.create(memoryMb);
  const calls = new Map<number, Call>();
  /** The call that is currently computing. */
  let current: Call | undefined;
  let enteredAt = 0;
  let spent = false;
  let interrupted = false;
  let interruptedAt: string | undefined;
  let lastId = 0;

  const computedMs = (): number => performance.now() - compiledMs() - enteredAt;
  runtime.setInterruptHandler(() => {
    const ms = computedMs();
    computing(ms);
    interrupted ||= current !== undefined && current.spentMs + ms > Math.min(current.limits.cpuMs, current.limits.timeoutMs);
    return interrupted;
  });

  const effects = createCallEffects({ calls, current: () => current, enter, print, fetch });
  const guest = connectGuest({
    ...{ runtime, context, guestSource: quickjs.guestSource, files, entry, effects, settle },
    hasNetwork: fetch !== undefined,
  });

  /** Runs code for a call until it has nothing more to do synchronously. */
  function enter(call: Call, name: string, ...given: readonly (string | number)[]): void {
    if (!calls.has(call.id)) return;
    current = call;
    enteredAt = performance.now() - compiledMs();
    interrupted = false;
    try {
      const called = guest.call(name, ...given);
      if (called.error !== undefined) left(call, called.error);
      // A string is the result of a call that did not wait for anything.
      else called.value.consume((value) => context.typeof(value) === "string" && settle(call.id, "value", context.getString(value)));
      // Jobs run one at a time, because none may run after the limit is reached.
      while (!interrupted && runtime.hasPendingJob()) {
        const job = runtime.executePendingJobs(1);
        if (job.error !== undefined) left(call, job.error);
      }
    } catch (error) {
      broken(error);
    }
    call.spentMs += computedMs();
    current = undefined;
    if (interrupted) {
      spent = true;
      const message = `It computed for more than ${call.limits.cpuMs} ms (hooks.transforms.cpuMs)`;
      end(call, new TransformError("timeout", message, { where: interruptedAt }));
    } else if (call.settled !== undefined) end(call, call.settled.outcome);
    else if ([...calls.values()].every(({ timers, requests }) => timers.size === 0 && requests === 0)) {
      end(call, new TransformError("timeout", "Its promise never settles: there is nothing left that it could wait for"));
    }
  }

  /** Handles an error thrown out of the code: from memory, a limit, or a timer's function. */
  function left(call: Call, error: QuickJSHandle): void {
    if (interrupted) {
      interruptedAt = error.consume((handle) => context.dump(handle) as { readonly stack?: string }).stack;
      return;
    }
    const { name, message } = error.consume((handle) => context.dump(handle) as { readonly name?: unknown; readonly message?: unknown });
    if (message === "out of memory") overMemory(call);
    else effects.print("warn", `a timer of the transform failed: ${String(name)}: ${String(message)}`);
  }

  const memoryError = (): TransformError => new TransformError("memory", `It used more than ${memoryMb} MB (hooks.transforms.memoryMb)`);
  function overMemory(call: Call): void {
    spent = true;
    call.settled = { outcome: memoryError() };
  }

  /** Handles a failure of the engine itself, after which it cannot be used again. */
  function broken(error: unknown): void {
    spent = true;
    const cause = error instanceof RangeError ? new TransformError("threw", "RangeError: Maximum call stack size exceeded") : memoryError();
    for (const call of calls.values()) end(call, cause);
  }

  function settle(id: number, kind: string | undefined, text = "", stack = ""): void {
    const call = calls.get(id);
    if (call === undefined || call.settled !== undefined) return;
    if (kind === "value") call.settled = { outcome: text === "" ? undefined : text };
    else if (text === "out of memory") overMemory(call);
    else {
      const message = text.replace(/^TransformError: /, "");
      call.settled = {
        outcome: new TransformError(guest.isRefusal(message) ? "refused" : kind === "result" ? "result" : "threw", message, {
          where: stack,
        }),
      };
    }
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

  function begin(call: Call, verb: string, enterIt: () => void): void {
    const { limits } = call;
    calls.set(call.id, call);
    enterIt();
    if (!calls.has(call.id)) return;
    const late = new TransformError("timeout", `It did not ${verb} within ${limits.timeoutMs / 1_000} s (hooks.transforms.timeoutSeconds)`);
    call.deadline = setTimeout(() => end(call, late), Math.max(0, limits.timeoutMs - call.spentMs));
  }

  const newCall = (limits: CallLimits, done: Call["done"]): Call => {
    const id = lastId;
    lastId += 1;
    return { id, limits, done, timers: new Map(), requests: 0, spentMs: 0, printed: 0, settled: undefined, deadline: undefined };
  };

  return {
    load(limits, done) {
      const call = newCall(limits, done);
      begin(call, "load", () => enter(call, "load", call.id, entry));
    },
    call(name, contextJson, limits, done) {
      const call = newCall(limits, done);
      begin(call, "answer", () => enter(call, "call", call.id, name, contextJson));
    },
    isSpent: () => spent,
  };
}
