/** Waits of a channel: for a time, and for work that may take too long. */

/**
 * Resolves after the time in milliseconds, or at once when the signal aborts. Never rejects. It leaves no timer and no
 * listener behind.
 *
 * @example
 * for (;;) {
 *   await pause(60_000, account.signal);
 *   if (account.signal.aborted) return;
 *   await look();
 * }
 */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
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

/**
 * What the work resolves with, or `undefined` if it takes longer than the milliseconds, or the signal aborts before.
 * Rejects as the work does; what it does later is ignored.
 *
 * @example
 * // An event is not held up by a name.
 * const name = await within(api.nameOf(event.user), 1_000, account.signal);
 */
export async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const end = () => over.resolve(undefined);
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    work.catch(() => {});
  }
}
