/**
 * How much a model takes at once, and how much of that a text needs. Tokens are estimated from the kinds of characters
 * in a text; how many tokens each kind takes is learned from what the model's server counts.
 */

/**
 * How many characters of each kind a text has: letters of ASCII, spaces, digits, changes within a word such as `a1` and
 * `aB`, signs, accented letters, letters of other alphabets, characters of East Asia, others. The last number is tokens
 * that are known, such as those of a message without text. Sizes of several texts are added number by number.
 */
export type TextSizes = readonly number[];

/** What is known about the context of a model. */
export interface ModelRoom {
  /** Tokens that a request and its reply may take together. */
  readonly tokens: number;
  /** How that is known: set, named by a refusal of the model's server, listed, or assumed. */
  readonly source: "config" | "refusal" | "list" | "default";
  /** Tokens for one of each kind of `TextSizes`. */
  readonly tokensPer: TextSizes;
  /** By how much an estimate may be too low, as a share of it. */
  readonly margin: number;
}

const kinds = 9;
const known = kinds;

/** More than most models need, for models of which nothing is known. */
export const usualTokensPer: TextSizes = [0.3, 0.3, 1.2, 1, 0.75, 1.5, 0.5, 1.6, 1.3, 1];

const kind = { lower: 0, upper: 1, digit: 2, space: 3, sign: 4, accented: 5, letter: 6, dense: 7, other: 8 } as const;

function kindOf(code: number): number {
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return kind.space;
  if (code >= 0x30 && code <= 0x39) return kind.digit;
  if (code >= 0x61 && code <= 0x7a) return kind.lower;
  if (code >= 0x41 && code <= 0x5a) return kind.upper;
  if (code < 0x80) return kind.sign;
  if (code < 0x250) return kind.accented;
  if (code < 0x590) return kind.letter;
  const isDense =
    (code >= 0x2e80 && code < 0xa4d0) ||
    (code >= 0xac00 && code < 0xd7b0) ||
    (code >= 0xf900 && code < 0xfb00) ||
    code >= 0xff00;
  return isDense ? kind.dense : kind.other;
}

/** Spaces in a row are one or two tokens together. */
const laterSpace = 0.4;
const shift = 4;

/** The kinds of the characters that most texts consist of. */
const frequent = Uint8Array.from({ length: 0x250 }, (_, code) => kindOf(code));

/**
 * Measures a text. Takes about a millisecond for 200 kB.
 *
 * @example
 * estimateTokens(room, measureText(text));
 */
export function measureText(text: string): TextSizes {
  // How often each kind follows each other one. Counting pairs needs no decision for each character.
  const pairs = new Uint32Array(kinds << shift);
  let before: number = kind.space;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const next = code < frequent.length ? (frequent[code] as number) : kindOf(code);
    const pair = (before << shift) | next;
    pairs[pair] = (pairs[pair] as number) + 1;
    before = next;
  }
  const count = (first: number, second: number) => pairs[(first << shift) | second] as number;
  const all = (of: number) => {
    let sum = 0;
    for (let first = 0; first < kinds; first += 1) sum += count(first, of);
    return sum;
  };
  const { lower, upper, digit, space } = kind;
  const changes =
    count(upper, digit) + count(lower, digit) + count(digit, lower) + count(digit, upper) + count(lower, upper);
  return [
    all(lower) + all(upper),
    all(space) - count(space, space) * (1 - laterSpace),
    all(digit),
    changes,
    all(kind.sign),
    all(kind.accented),
    all(kind.letter),
    all(kind.dense),
    all(kind.other),
    0,
  ];
}

/**
 * The sizes of tokens that are known.
 *
 * @example
 * addSizes(measureText(text), knownTokens(1_000)); // with a picture
 */
export const knownTokens = (tokens: number): TextSizes => [0, 0, 0, 0, 0, 0, 0, 0, 0, tokens];

/**
 * The sizes of several texts together.
 *
 * @example
 * addSizes(measureText(instructions), ...messages.map(({ text }) => measureText(text)));
 */
export function addSizes(...all: readonly TextSizes[]): TextSizes {
  const sum = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (const sizes of all)
    for (let index = 0; index <= known; index += 1) sum[index] = (sum[index] ?? 0) + (sizes[index] ?? 0);
  return sum;
}

/** How many tokens a model's server is likely to count. */
export function likelyTokens({ tokensPer }: Pick<ModelRoom, "tokensPer">, sizes: TextSizes): number {
  let sum = 0;
  for (let index = 0; index <= known; index += 1) sum += (sizes[index] ?? 0) * (tokensPer[index] ?? 1);
  return Math.ceil(sum);
}

/**
 * How many tokens a model's server counts in texts of these sizes: rather too many than too few.
 *
 * @example
 * const isTooLong = estimateTokens(room, sizes) > room.tokens - longestReply;
 */
export function estimateTokens(room: Pick<ModelRoom, "tokensPer" | "margin">, sizes: TextSizes): number {
  return Math.ceil(likelyTokens(room, sizes) * (1 + room.margin));
}

/** No model counts so many times fewer, or more, tokens than usual: some servers leave out what they have cached. */
const mostUnusual = 4;

const plausible = (each: number, index: number): number => {
  const usual = usualTokensPer[index] ?? 1;
  return Math.min(usual * mostUnusual, Math.max(usual / mostUnusual, each));
};

/** How fast an estimate follows what a server counts. */
const rate = 0.7;
/** An estimate is never held to be exact. */
const leastMargin = 0.03;
/** Before anything is known. */
export const firstMargin = 0.1;
/** Slowly, because the next text may be of the kind that was estimated too low. */
const forgets = 0.95;

/**
 * What is known after a server has counted the tokens of a request. The kind of which the request has most is corrected
 * most, and a kind that it does not have stays as it is.
 */
export function learnTokens(room: ModelRoom, sizes: TextSizes, counted: number): ModelRoom {
  const shares = room.tokensPer.map((each, index) => (index === known ? 0 : (sizes[index] ?? 0) * each));
  const largest = Math.max(...shares);
  const likely = likelyTokens(room, sizes);
  const usual = likelyTokens({ tokensPer: usualTokensPer }, sizes);
  const isPlausible = counted >= usual / mostUnusual && counted <= usual * mostUnusual;
  if (largest <= 0 || !isPlausible) return room;
  const ratio = Math.min(4, Math.max(0.25, counted / likely));
  const tokensPer = room.tokensPer.map((each, index) =>
    plausible(each * ratio ** (rate * ((shares[index] ?? 0) / largest)), index),
  );
  const margin = Math.min(0.5, Math.max(room.margin * forgets, (ratio - 1) * 1.25, leastMargin));
  return { ...room, tokensPer, margin };
}
