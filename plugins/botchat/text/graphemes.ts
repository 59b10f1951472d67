/** What people see as one character. */

/** Made once, and with the first text: it loads tables for 10 ms and more, which a start need not wait for. It has no state between texts. */
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
