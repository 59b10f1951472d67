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
