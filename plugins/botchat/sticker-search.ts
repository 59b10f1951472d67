/** Finds stickers for a text. Pure. */

import type { MediaFound } from "service-gateway/sdk/channel";

/** The score of each way in which a sticker can match. */
const worth = { description: 10, emoji: 8, word: 5, setName: 3 } as const;

const wordsOf = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");

/** Removes variation selectors and skin tones, because apps send the same emoji with and without them. */
const plainEmoji = (text: string): string => text.replace(/[\ufe0e\ufe0f]|[\u{1f3fb}-\u{1f3ff}]/gu, "");

function scoreOf({ description, emoji = "", setName = "" }: MediaFound, query: string): number {
  const shown = description.toLowerCase();
  const shownWords = wordsOf(shown);
  const set = setName.toLowerCase();
  // If a bot created the set, the platform appends the bot's name to the set's name.
  const setWords = wordsOf(set.replace(/_by_\w+$/, ""));
  const words = wordsOf(query);
  const found = words.filter((word) => shownWords.some((one) => one.includes(word)));
  const isEmoji = plainEmoji(emoji) !== "" && plainEmoji(query).includes(plainEmoji(emoji));
  const isSet = set.includes(query) || words.some((word) => setWords.includes(word));
  return (
    (shown.includes(query) ? worth.description : 0) +
    found.length * worth.word +
    (isEmoji ? worth.emoji : 0) +
    (isSet ? worth.setName : 0)
  );
}

/** Stickers that match the query, best first; on a tie, newest first. */
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
