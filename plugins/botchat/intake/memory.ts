/** What was seen lately, bounded: the oldest half goes at once, so that forgetting costs nothing for each entry. */
export interface Memory<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  /** False when it was not there. */
  delete(key: string): boolean;
  /** The last `most` keys at the utmost, those that were set last at the end. */
  newest(most: number): readonly (readonly [key: string, value: T])[];
}

/** Keeps at least the last `least` keys that were set, and at most twice as many. */
export function createMemory<T>(least: number): Memory<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      // A map keeps the place of a key that it has.
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
