/** Pulls an engine's stream under a signal: an abort ends it at once, even when the engine does not listen. */

export interface Pulled<T> {
  /** The next of it. Rejects with the signal's reason as soon as that is aborted. */
  next(): Promise<IteratorResult<T, unknown>>;
  /** Nothing more is wanted. */
  close(): void;
}

/** No generator around the engine's own: each of them would cost every event a trip through the queue of microtasks. */
export function pullUnder<T>(source: AsyncIterable<T>, signal: AbortSignal): Pulled<T> {
  const iterator = source[Symbol.asyncIterator]();
  // That of the pull under way; nobody may be waiting when it happens, between two pulls.
  let giveUp: ((reason: unknown) => void) | undefined;
  const onAbort = () => giveUp?.(signal.reason);
  let finished = false;
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        giveUp = reject;
        Promise.resolve(iterator.next()).then((next) => {
          if (signal.aborted) return reject(signal.reason);
          if (next.done === true) finished = true;
          resolve(next);
        }, reject);
      }),
    close() {
      signal.removeEventListener("abort", onAbort);
      // Not awaited: an engine that hangs would hang its caller with it.
      if (!finished) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    },
  };
}
