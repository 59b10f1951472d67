/** Pulls an engine's stream under a signal: an abort ends it at once, even when the engine does not listen. */

/** Yields what `source` yields until it ends or `signal` is aborted; then it throws the signal's reason. */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  // That of the pull under way; nobody may be waiting when it happens, between two pulls.
  let giveUp: ((reason: unknown) => void) | undefined;
  const onAbort = () => giveUp?.(signal.reason);
  const pull = () =>
    new Promise<IteratorResult<T>>((resolve, reject) => {
      giveUp = reject;
      Promise.resolve(iterator.next()).then(resolve, reject);
    });
  signal.addEventListener("abort", onAbort, { once: true });
  let finished = false;
  try {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const next = await pull();
      if (signal.aborted) throw signal.reason;
      if (next.done === true) {
        finished = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: an engine that hangs would hang its caller with it.
    if (!finished) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
