import { distance } from "fastest-levenshtein";

/** Returns `Did you mean groupPolicy?` if a known key is similar enough; otherwise `undefined`. */
export function suggestKey(key: string, known: readonly string[]): string | undefined {
  const nearest = nearestOf(key, known);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

/** The most similar known word, ignoring case. About two letters in five may differ; a swap counts as two. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const lower = word.slice(0, 100).toLowerCase();
  let nearest: { readonly word: string; readonly far: number } | undefined;
  for (const candidate of known) {
    const far = distance(lower, candidate.toLowerCase());
    const limit = Math.round(Math.max(lower.length, candidate.length) * 0.4);
    if (far <= limit && (nearest === undefined || far < nearest.far)) nearest = { word: candidate, far };
  }
  return nearest?.word;
}
