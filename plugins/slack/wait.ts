/** Resolves after the time, or at once when the signal aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Waits for the work, but not for longer. What it rejects with is ignored. */
export async function waitFor<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const over = new AbortController();
  const found = await Promise.race([work.catch(() => undefined), wait(ms, over.signal).then(() => undefined)]);
  over.abort();
  return found;
}
