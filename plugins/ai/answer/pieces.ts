/**
 * A text that arrives in pieces. Each piece has memory of its own, and joining all of them for each new one would take
 * ever longer.
 */

/** So many pieces are joined to one. */
const mostPieces = 500;

export class Pieces {
  /** Joined ones; each is joined once more at most, when the text is read. */
  readonly #joined: string[] = [];
  #recent: string[] = [];

  constructor(first?: string) {
    if (first !== undefined) this.add(first);
  }

  add(piece: string): void {
    this.#recent.push(piece);
    if (this.#recent.length < mostPieces) return;
    this.#joined.push(this.#recent.join(""));
    this.#recent = [];
  }

  get isEmpty(): boolean {
    return this.#joined.length === 0 && this.#recent.length === 0;
  }

  /** Whether all of it is white space. */
  get isBlank(): boolean {
    return ![this.#joined, this.#recent].some((pieces) => pieces.some((piece) => piece.trim() !== ""));
  }

  get text(): string {
    return this.#joined.join("") + this.#recent.join("");
  }
}
