/**
 * A bounded memory of recent entries. The oldest half is dropped at once, so that forgetting costs nothing for each
 * entry.
 */
export interface Memory<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  /** False if the key was missing. */
  delete(key: string): boolean;
  /** At most the last `most` keys, the most recently set at the end. */
  newest(most: number): readonly (readonly [key: string, value: T])[];
}

/** Keeps at least the last `least` keys that were set, and at most twice as many. */
export function createMemory<T>(least: number): Memory<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      // A map keeps the position of an existing key, so it is removed first.
      young.delete(key);
      young.set(key, value);
      if (young.size < least) return;
      old = young;
      young = new Map();
    },
    delete(key) {
      const wasOld = old.delete(key);
      return young.delete(key) || wasOld;
    },
    newest: (most) => [...[...old].filter(([key]) => !young.has(key)), ...young].slice(-most),
  };
}
