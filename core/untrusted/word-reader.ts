/**
 * Recognizes one word in a stream of characters, one bit for each number of letters read so far: the cost of a character does
 * not depend on how many beginnings of the word are open.
 */

/** What a character can be within the word. Numbers, because one is looked up for each character of a text. */
export const reading = {
  /** Nothing: it does not interrupt the word. */
  ornament: 0,
  /** A letter, and nothing else. */
  letter: 1,
  /** A sign or digit that can be drawn for a letter, or be an ornament. */
  drawn: 2,
  /** A look-alike: the letter it resembles, any other letter, or an ornament. */
  alike: 3,
  /** A letter that no table knows: any letter, or an ornament. */
  unknown: 4,
} as const;

export type Reading = (typeof reading)[keyof typeof reading];

const codeOfA = 97;
const codeOfM = 109;

export class WordReader {
  readonly #masks = new Int32Array(26);
  /** Where two letters of the word can be drawn as one, in either direction. */
  readonly #drawnAsM: number;
  readonly #complete: number;
  /** Bit `n` is set when `n` letters of the word have been read, with so many guesses. */
  readonly #read: Int32Array;
  /** No entry behind this one is set. */
  #last = 0;
  readonly #first: number;

  /** At most `guesses` letters of the word may be characters whose meaning is unknown. */
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

  /** Whether the word ends with this character. `letter` is a code between `a` and `z`; it is ignored for `unknown`. */
  read(kind: Reading, letter: number): boolean {
    const read = this.#read;
    // Nearly every character of an ordinary text: nothing has begun, and nothing begins.
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

  /** Nothing has begun. */
  isIdle(): boolean {
    return this.#last === 0 && this.#read[0] === 0;
  }

  /** Forgets what was read. */
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
    // Bit 0 says nothing: a beginning needs no letters.
    this.#read[guessed] = next & (this.#complete - 2);
    return (next & this.#complete) !== 0;
  }
}
