/** Shortens texts for requests that would be too long. */
import { estimateTokens, type ModelRoom, measureText } from "./model-room.ts";

const inWords = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

/**
 * The beginning and the end of a text, with a note between them. Never cuts a character in two.
 *
 * @example
 * cutMiddle(result, 1_000); // the first 667 characters, "[1,234 characters are left out here]", the last 333
 */
export function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = Math.ceil((characters * 2) / 3);
  const begin = text.slice(0, head).replace(/[\uD800-\uDBFF]$/, "");
  const end = text.slice(text.length - (characters - head)).replace(/^[\uDC00-\uDFFF]/, "");
  const left = text.length - begin.length - end.length;
  return `${begin}\n[${inWords(left)} characters are left out here]\n${end}`;
}

/** The least that is left of a text. */
const leastCharacters = 100;

/**
 * A text cut in the middle, so that a model's server counts at most so many tokens in it.
 *
 * @example
 * cutToTokens(result, 500, turn.room.models["acme/large"]);
 */
export function cutToTokens(text: string, tokens: number, room: Pick<ModelRoom, "tokensPer" | "margin">): string {
  let characters = text.length;
  for (;;) {
    const cut = cutMiddle(text, characters);
    const needed = estimateTokens(room, measureText(cut));
    if (needed <= tokens || characters <= leastCharacters) return cut;
    characters = Math.max(leastCharacters, Math.floor(characters * Math.min(0.9, tokens / needed)));
  }
}
