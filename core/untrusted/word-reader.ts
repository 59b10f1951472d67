/**
 * Recognizes one word in a stream of characters. A bit represents each possible number of letters read, so that the
 * cost of a character does not depend on how many partial matches exist.
 */

/** The possible roles of a character within the word. Numbers, for speed: every character of a text is looked up. */
export const reading = {
  /** An ornament, which does not interrupt the word. */
  ornament: 0,
  /** Unambiguously a letter. */
  letter: 1,
  /** Punctuation or a digit that can stand for a letter or be an ornament. */
  drawn: 2,
  /** A look-alike: the letter that it resembles, another letter, or an ornament. */
  alike: 3,
  /** An unknown character: any letter, or an ornament. */
  unknown: 4,
} as const;

export type Reading = (typeof reading)[keyof typeof reading];

const codeOfA = 97;
const codeOfM = 109;

export class WordReader {
  readonly #masks = new Int32Array(26);
  /** Positions at which two letters of the word can be drawn as one, in either direction. */
  readonly #drawnAsM: number;
  readonly #complete: number;
  /** For each number of guesses, bit `n` is set if `n` letters of the word have been read. */
  readonly #read: Int32Array;
  /** Entries after this index are zero. */
  #last = 0;
  readonly #first: number;

  /** `guesses` is how many letters of the word may be unknown characters. */
  constructor(word: string, guesses: number) {
    this.#first = word.charCodeAt(0);
    let drawnAsM = 0;
    for (let place = 0; place < word.length; place += 1) {
      const letter = word.charCodeAt(place) - codeOfA;
      this.#masks[letter] = (this.#masks[letter] ?? 0) | (1 << place);
      if (word.startsWith("rn", place) || word.startsWith("nr", place)) drawnAsM |= 1 << place;
    }
    this.#drawnAsM = drawnAsM;
    this.#complete = 1 << word.length;
    this.#read = new Int32Array(guesses + 1);
  }

  /**
   * Reads a character and returns whether the word ends with it. `letter` is a code between `a` and `z`, ignored for
   * `unknown`.
   */
  read(kind: Reading, letter: number): boolean {
    const read = this.#read;
    // Fast path for nearly every character of an ordinary text: no match has begun, and none begins here.
    if (this.#last === 0 && kind <= reading.drawn) {
      if (read[0] === 0 && letter !== this.#first) return false;
      return this.#step(0, kind, letter);
    }
    let ends = false;
    const from = kind <= reading.drawn ? this.#last : Math.min(this.#last + 1, read.length - 1);
    this.#last = 0;
    for (let guessed = from; guessed >= 0; guessed -= 1) {
      if (this.#step(guessed, kind, letter)) ends = true;
      if (read[guessed] !== 0 && guessed > this.#last) this.#last = guessed;
    }
    return ends;
  }

  /** Whether no match has begun. */
  isIdle(): boolean {
    return this.#last === 0 && this.#read[0] === 0;
  }

  /** Discards partial matches. */
  reset(): void {
    if (this.#last === 0) this.#read[0] = 0;
    else this.#read.fill(0);
    this.#last = 0;
  }

  #state(guessed: number): number {
    const state = this.#read[guessed] ?? 0;
    // The word may begin at any character.
    return guessed === 0 ? state | 1 : state;
  }

  #step(guessed: number, kind: Reading, letter: number): boolean {
    const state = this.#state(guessed);
    let next = kind === reading.letter ? 0 : state;
    if (kind !== reading.unknown) {
      next |= (state & (this.#masks[letter - codeOfA] ?? 0)) << 1;
      if (letter === codeOfM) next |= (state & this.#drawnAsM) << 2;
    }
    if (guessed > 0 && kind >= reading.alike) next |= this.#state(guessed - 1) << 1;
    // Bit 0 is cleared, because it is set again for every character.
    this.#read[guessed] = next & (this.#complete - 2);
    return (next & this.#complete) !== 0;
  }
}
