/**
 * WebCrypto works on threads of its own, also while the runner waits for its next call and nobody looks at the clock. So it is
 * counted: a call is over when none of it is left.
 */
import { types } from "node:util";
import { apply, defineProperty, getOwnPropertyDescriptor, later, ownKeys, whenSettled } from "./intrinsics.ts";

export interface Threads {
  /** Whether something is under way; if so, `act` is called from the event loop's top when nothing is. */
  busy(act: () => void): boolean;
}

const { isPromise } = types;

export function watchThreads(): Threads {
  let running = 0;
  let waiting: (() => void) | undefined;
  const done = (): void => {
    running -= 1;
    if (running > 0 || waiting === undefined) return;
    later(waiting);
    waiting = undefined;
  };
  const { prototype } = SubtleCrypto;
  for (const name of ownKeys(prototype)) {
    const method: unknown = getOwnPropertyDescriptor(prototype, name)?.value;
    if (typeof method !== "function" || name === "constructor") continue;
    const counted = function (this: unknown, ...args: readonly unknown[]): unknown {
      const work: unknown = apply(method, this, args);
      if (isPromise(work)) {
        running += 1;
        whenSettled(work, done, done);
      }
      return work;
    };
    defineProperty(prototype, name, { value: counted });
  }
  return {
    busy(act) {
      if (running > 0) waiting = act;
      return running > 0;
    },
  };
}
