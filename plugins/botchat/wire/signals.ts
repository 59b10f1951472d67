/**
 * Shares one listener for each signal among all calls that wait on it. An abort signal scans all its listeners when one
 * is added, so hundreds of calls with the gateway's signal would spend their time on that.
 */
import type { Stoppable } from "./wire.ts";

export interface Signals {
  share(signal: AbortSignal): Stoppable;
}

export function createSignals(): Signals {
  const shared = new WeakMap<AbortSignal, Stoppable>();

  function make(signal: AbortSignal): Stoppable {
    const listeners = new Set<() => void>();
    signal.addEventListener("abort", () => {
      for (const listener of listeners) listener();
    });
    return {
      get aborted() {
        return signal.aborted;
      },
      addEventListener: (_type, listener) => void listeners.add(listener),
      removeEventListener: (_type, listener) => void listeners.delete(listener),
    };
  }

  return {
    share(signal) {
      const found = shared.get(signal) ?? make(signal);
      shared.set(signal, found);
      return found;
    },
  };
}
