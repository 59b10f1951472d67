/** How long something is waited for. */

/**
 * What the work resolves with, or `undefined` if it takes longer, or the signal aborts before. Rejects as the work
 * does; what it does later is ignored.
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
