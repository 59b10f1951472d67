/**
 * Calls of trusted modules whose process has ended. They are repeated in other processes, to find the call that ended
 * it.
 */
import type { TransformError } from "./error.ts";
import type { Child, Waiting } from "./trusted-process.ts";

export interface Repeats {
  /** Repeats each half of the calls in a process of its own. */
  add(module: string, calls: readonly Waiting[]): void;
  /** A process has ended. */
  ended(child: Child): void;
  /** Rejects the calls that wait for a process. */
  close(error: TransformError): void;
}

/**
 * At most `size` processes repeat calls at the same time, because a module that ends every process would otherwise
 * start one for each call. `start` returns nothing if no process can be started.
 */
export function createRepeats(
  size: number,
  start: (module: string, calls: readonly Waiting[]) => Child | undefined,
): Repeats {
  const children = new Set<Child>();
  const waiting: { readonly module: string; readonly calls: readonly Waiting[] }[] = [];

  function startSome(): void {
    while (children.size < size) {
      const next = waiting.shift();
      if (next === undefined) return;
      const child = start(next.module, next.calls);
      if (child !== undefined) children.add(child);
    }
  }

  return {
    add(module, calls) {
      const half = Math.ceil(calls.length / 2);
      for (const part of [calls.slice(0, half), calls.slice(half)])
        if (part.length > 0) waiting.push({ module, calls: part });
      startSome();
    },
    ended(child) {
      if (children.delete(child)) startSome();
    },
    close(error) {
      for (const { calls } of waiting.splice(0)) for (const { reject } of calls) reject(error);
    },
  };
}
