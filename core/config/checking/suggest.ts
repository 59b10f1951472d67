import { distance } from "fastest-levenshtein";

/** `Did you mean groupPolicy?`, when one of the known keys is near enough. */
export function suggestKey(key: string, known: readonly string[]): string | undefined {
  const nearest = nearestOf(key, known);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

/** The known word that is nearest; two letters in five may differ (a swap counts two), case does not count. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const lower = word.slice(0, 100).toLowerCase();
  let nearest: { readonly word: string; readonly far: number } | undefined;
  for (const candidate of known) {
    const far = distance(lower, candidate.toLowerCase());
    const limit = Math.ceil(Math.max(lower.length, candidate.length) * 0.4);
    if (far <= limit && (nearest === undefined || far < nearest.far)) nearest = { word: candidate, far };
  }
  return nearest?.word;
}
