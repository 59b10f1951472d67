/**
 * Recognizes files that change because the plugin was replaced, such as a log in its folder: each replacement would
 * cause the next one.
 */

/** So soon after a replacement, in milliseconds, and so often in a row, no person saves a file. */
const soonMs = 250;
const oftenEnough = 5;

/** Sources are never given up: a program may save them as fast as that. */
const isSource = (path: string): boolean => /\.[cm]?[jt]sx?$|[\\/]package\.json$/.test(path);

export interface OutputFiles {
  /**
   * Divides files that changed: those that were saved, and those that this change shows to be outputs, which are left
   * out from now on.
   */
  divide(changed: readonly string[]): { readonly saved: readonly string[]; readonly outputs: readonly string[] };
  /** Watches a replacement of the plugin. */
  during(replacement: Promise<void>): Promise<void>;
}

export function createOutputFiles(now: () => number): OutputFiles {
  const known = new Set<string>();
  /** How often in a row each file changed soon after a replacement. */
  let counts: ReadonlyMap<string, number> = new Map();
  let running = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  return {
    divide(changed) {
      const rest = changed.filter((path) => !known.has(path));
      if (rest.length === 0) return { saved: [], outputs: [] };
      const isSoon = running > 0 || now() - endedAt < soonMs;
      counts = new Map(
        isSoon ? rest.filter((path) => !isSource(path)).map((path) => [path, (counts.get(path) ?? 0) + 1]) : [],
      );
      const outputs = rest.filter((path) => (counts.get(path) ?? 0) >= oftenEnough);
      for (const path of outputs) known.add(path);
      return { saved: rest.filter((path) => !known.has(path)), outputs };
    },
    async during(replacement) {
      running += 1;
      try {
        await replacement;
      } finally {
        running -= 1;
        endedAt = now();
      }
    },
  };
}
