/** How many columns a text takes on a terminal. */
import { stripVTControlCharacters } from "node:util";

/** Characters of East Asia, flags, and emoji that are drawn as pictures take two columns. */
const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}\p{Regional_Indicator}]|\uFE0F/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

export function columnsOf(styled: string): number {
  const text = stripVTControlCharacters(styled);
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  // An accent, or the parts of one emoji, belong to the character before.
  const characters = [...new Intl.Segmenter().segment(text)];
  return characters.reduce((sum, { segment }) => sum + (invisible.test(segment) ? 0 : wide.test(segment) ? 2 : 1), 0);
}
