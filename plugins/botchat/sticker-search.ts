/** Which stickers fit some words. Pure. */

import type { MediaFound } from "service-gateway/sdk/channel";

/** Worth of each way in which a sticker can fit. */
const worth = { description: 10, emoji: 8, word: 5, setName: 3 } as const;

const wordsOf = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");

/** Apps send one emoji with or without a variation selector, and in several skin tones. */
const plainEmoji = (text: string): string => text.replace(/[\ufe0e\ufe0f]|[\u{1f3fb}-\u{1f3ff}]/gu, "");

function scoreOf({ description, emoji = "", setName = "" }: MediaFound, query: string): number {
  const shown = description.toLowerCase();
  const shownWords = wordsOf(shown);
  const set = setName.toLowerCase();
  // The platform ends the name of a set that a bot has made with the name of that bot.
  const setWords = wordsOf(set.replace(/_by_\w+$/, ""));
  const words = wordsOf(query);
  const found = words.filter((word) => shownWords.some((one) => one.includes(word)));
  const isEmoji = plainEmoji(emoji) !== "" && plainEmoji(query).includes(plainEmoji(emoji));
  const isSet = set.includes(query) || words.some((word) => setWords.includes(word));
  return (
    (shown.includes(query) ? worth.description : 0) + found.length * worth.word + (isEmoji ? worth.emoji : 0) + (isSet ? worth.setName : 0)
  );
}

/** The best first, among equals the newest; none that has nothing in common with the query. */
export function findStickers(stickers: readonly MediaFound[], query: string, limit: number): readonly MediaFound[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  return stickers
    .map((sticker, index) => ({ sticker, index, score: scoreOf(sticker, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.index - a.index)
    .slice(0, limit)
    .map(({ sticker }) => sticker);
}
