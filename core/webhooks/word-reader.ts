/**
 * Recognizes one word in a stream of characters, one bit for each number of letters read so far: the cost of a character does
 * not depend on how many beginnings of the word are open.
 */

/** What a character can be within the word. */
export type Reading =
  /** A letter, and nothing else. */
  | "letter"
  /** A sign or digit that can be drawn for a letter, or be an ornament. */
  | "drawn"
  /** A look-alike: the letter it resembles, any other letter, or an ornament. */
  | "alike"
  /** A letter that no table knows: any letter, or an ornament. */
  | "unknown";

export interface WordReader {
  /** Whether the word ends with this character. `letter` is a code between `a` and `z`; it is ignored for `unknown`. */
  read(reading: Reading, letter: number): boolean;
  /** Forgets what was read. */
  reset(): void;
  /** Whether no letter of the word has been read. */
  isIdle(): boolean;
}

const codeOfA = 97;
const codeOfM = 109;

/** At most `guesses` letters of the word may be characters of which it is not known what they stand for. */
export function createWordReader(word: string, guesses: number): WordReader {
  const masks = new Int32Array(26);
  for (let place = 0; place < word.length; place += 1) {
    const letter = word.charCodeAt(place) - codeOfA;
    masks[letter] = (masks[letter] ?? 0) | (1 << place);
  }
  // Two letters that are drawn as one, in either direction.
  let drawnAsM = 0;
  for (let place = 0; place + 1 < word.length; place += 1) {
    if (word.startsWith("rn", place) || word.startsWith("nr", place)) drawnAsM |= 1 << place;
  }
  const complete = 1 << word.length;
  /** By the number of guesses: bit `n` is set when `n` letters of the word have been read. */
  const read = new Int32Array(guesses + 1);
  /** No entry behind this one is set. */
  let last = 0;

  function after(state: number, letter: number): number {
    const next = (state & (masks[letter - codeOfA] ?? 0)) << 1;
    return letter === codeOfM ? next | ((state & drawnAsM) << 2) : next;
  }

  return {
    read(reading, letter) {
      let ends = 0;
      let highest = 0;
      const first = reading === "letter" || reading === "drawn" ? last : Math.min(last + 1, guesses);
      for (let guessed = first; guessed >= 0; guessed -= 1) {
        // The word may begin at any character.
        const state = guessed === 0 ? (read[0] ?? 0) | 1 : (read[guessed] ?? 0);
        let next = reading === "unknown" ? 0 : after(state, letter);
        if (reading !== "letter") next |= state;
        if (guessed > 0 && (reading === "alike" || reading === "unknown")) {
          const before = guessed === 1 ? (read[0] ?? 0) | 1 : (read[guessed - 1] ?? 0);
          next |= before << 1;
        }
        ends |= next & complete;
        next &= complete - 1;
        read[guessed] = next;
        if (next !== 0 && guessed > highest) highest = guessed;
      }
      last = highest;
      return ends !== 0;
    },
    isIdle: () => last === 0 && read[0] === 0,
    reset() {
      if (last === 0) read[0] = 0;
      else read.fill(0);
      last = 0;
    },
  };
}
