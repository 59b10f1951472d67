import { createRequire } from "node:module";

/** Loaded with the first mistake: most commands and configurations have none. */
const library = (): typeof import("fastest-levenshtein") =>
  createRequire(import.meta.url)("fastest-levenshtein") as typeof import("fastest-levenshtein");

/** Returns `Did you mean groupPolicy?` if a known key is similar enough; otherwise `undefined`. */
export function suggestKey(key: string, known: readonly string[]): string | undefined {
  const nearest = nearestOf(key, known);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

/**
 * The most similar known word, ignoring case. About two letters in five may differ; two neighbors in the wrong order
 * count as one. Of two that are equally similar, the one of the same length is meant.
 */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const lower = word.slice(0, 100).toLowerCase();
  const { distance } = library();
  let nearest: { readonly word: string; readonly far: number; readonly longer: number } | undefined;
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    const far = isSwapped(lower, other) ? 1 : distance(lower, other);
    const longer = Math.abs(lower.length - other.length);
    const limit = Math.round(Math.max(lower.length, other.length) * 0.4);
    const isNearer = nearest === undefined || far < nearest.far || (far === nearest.far && longer < nearest.longer);
    if (far <= limit && isNearer) nearest = { word: candidate, far, longer };
  }
  return nearest?.word;
}

/** Whether two words differ in the order of two neighbors only. */
function isSwapped(one: string, other: string): boolean {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return (
    one.length === other.length &&
    one[at] === other[at + 1] &&
    one[at + 1] === other[at] &&
    one.slice(at + 2) === other.slice(at + 2)
  );
}
