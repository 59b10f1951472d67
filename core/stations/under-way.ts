/** Work that is under way: a plugin that was replaced closes when what began before has ended. */

export interface UnderWay {
  add(work: Promise<unknown>): void;
  /** Resolves when everything that is under way now has ended, after `ms`, or when the signal is aborted. */
  ended(ms: number, signal?: AbortSignal): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const all = new Set<Promise<unknown>>();
  return {
    add(work) {
      all.add(work);
      const end = () => void all.delete(work);
      work.then(end, end);
    },
    async ended(ms, signal) {
      if (all.size === 0 || signal?.aborted === true) return;
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      const stop = () => resolve();
      signal?.addEventListener("abort", stop, { once: true });
      await Promise.race([Promise.allSettled(all), enough]);
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    },
  };
}
