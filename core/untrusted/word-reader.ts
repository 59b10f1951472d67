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
    for (let place = 0; place < word.length; place += 1) {
      const letter = word.charCodeAt(place) - codeOfA;
      this.#masks[letter] = (this.#masks[letter] ?? 0) | (1 << place);
    }
    this.#drawnAsM = pairsIn(word);
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
    if (this.#last === 0 && kind <= reading.drawn && read[0] === 0 && letter !== this.#first) return false;
    const isGuess = kind >= reading.alike;
    const stays = kind === reading.letter ? 0 : -1;
    const places = kind === reading.unknown ? 0 : (this.#masks[letter - codeOfA] ?? 0);
    const pairs = kind !== reading.unknown && letter === codeOfM ? this.#drawnAsM : 0;
    const from = isGuess ? Math.min(this.#last + 1, read.length - 1) : this.#last;
    let ends = 0;
    this.#last = 0;
    for (let guessed = from; guessed >= 0; guessed -= 1) {
      // The word may begin at any character.
      const state = (read[guessed] ?? 0) | (guessed === 0 ? 1 : 0);
      let next = (state & stays) | ((state & places) << 1) | ((state & pairs) << 2);
      if (isGuess && guessed > 0) next |= ((read[guessed - 1] ?? 0) | (guessed === 1 ? 1 : 0)) << 1;
      ends |= next & this.#complete;
      // Bit 0 is cleared, because it is set again for every character.
      next &= this.#complete - 2;
      read[guessed] = next;
      if (next !== 0 && guessed > this.#last) this.#last = guessed;
    }
    return ends !== 0;
  }

  /** Discards partial matches. */
  reset(): void {
    if (this.#last === 0) this.#read[0] = 0;
    else this.#read.fill(0);
    this.#last = 0;
  }
}

/**
 * Creates the cheap question whether a text may contain the word, for texts whose characters are all ASCII. It does not
 * count guesses, so it may say yes where the reader does not find the word.
 *
 * @param roleOf The role of each character, by its code.
 */
export function createWordFilter(
  word: string,
  roleOf: (code: number) => { readonly kind: Reading; readonly letter: number; readonly endsWord: boolean },
): (text: string) => boolean {
  const codes = Array.from({ length: 128 }, (_, code) => code);
  const every = (1 << word.length) - 1;
  const placesOf = (letter: number) =>
    [...word].reduce((bits, known, place) => (known.charCodeAt(0) === letter ? bits | (1 << place) : bits), 0);
  /** By character code, one bit for each letter of the word that the character may represent. */
  const places = Int32Array.from(codes, (code) => {
    const { kind, letter } = roleOf(code);
    return kind === reading.ornament ? 0 : kind === reading.unknown ? every : placesOf(letter);
  });
  const pairs = Int32Array.from(codes, (code) => (roleOf(code).letter === codeOfM ? pairsIn(word) : 0));
  /** By character code: -1 if a partial word goes on after the character, else 0. */
  const stays = Int32Array.from(codes, (code) => {
    const { kind, endsWord } = roleOf(code);
    return kind === reading.letter || endsWord ? 0 : -1;
  });
  const complete = 1 << word.length;
  return (text) => {
    let read = 0;
    for (let unit = 0; unit < text.length; unit += 1) {
      const code = text.charCodeAt(unit);
      const state = read | 1;
      read = (read & (stays[code] ?? 0)) | ((state & (places[code] ?? 0)) << 1) | ((state & (pairs[code] ?? 0)) << 2);
      if ((read & complete) !== 0) return true;
    }
    return false;
  };
}

/** The positions at which two letters of the word can be drawn as an `m`, in either direction; one bit for each. */
function pairsIn(word: string): number {
  let bits = 0;
  for (let place = 0; place < word.length; place += 1)
    if (word.startsWith("rn", place) || word.startsWith("nr", place)) bits |= 1 << place;
  return bits;
}
