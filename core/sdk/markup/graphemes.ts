/** Splits a text into graphemes, which people perceive as characters. */

/** Created on first use, because it loads tables for 10 ms or more. It has no state. */
const segmenter = (() => {
  let made: Intl.Segmenter | undefined;
  return () => {
    made ??= new Intl.Segmenter("en", { granularity: "grapheme" });
    return made;
  };
})();

export function graphemes(text: string): Intl.Segments {
  return segmenter().segment(text);
}

/**
 * Longest character that stays whole, in UTF-16 units. Longer ones, such as a letter with a thousand accents, are made
 * to break limits.
 */
export const longestCharacter = 64;

/**
 * The last position at or before `at` that is not inside a character. If one character fills everything from `from` on,
 * only surrogate pairs are kept together.
 */
export function betweenCharacters(text: string, from: number, at: number): number {
  const base = Math.max(from, at - longestCharacter);
  const segment = graphemes(text.slice(base, at + longestCharacter)).containing(at - base);
  const start = segment === undefined ? at : base + segment.index;
  if (start > from) return start;
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff && at - 1 > from ? at - 1 : at;
}
