/** Which stickers fit some words. Pure. */

export interface FoundSticker {
  readonly fileId: string;
  readonly emoji?: string;
  readonly setName?: string;
  readonly description: string;
}

/** Worth of each way in which a sticker can fit. */
const worth = { description: 10, emoji: 8, word: 5, setName: 3 } as const;

const wordsOf = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");

function scoreOf({ description, emoji, setName }: FoundSticker, query: string): number {
  const shown = description.toLowerCase();
  const shownWords = wordsOf(shown);
  const found = wordsOf(query).filter((word) => shownWords.some((one) => one.includes(word)));
  return (
    (shown.includes(query) ? worth.description : 0) +
    found.length * worth.word +
    (emoji !== undefined && emoji !== "" && query.includes(emoji) ? worth.emoji : 0) +
    (setName?.toLowerCase().includes(query) === true ? worth.setName : 0)
  );
}

/** The best first, among equals the newest; none that has nothing in common with the query. */
export function searchStickers(stickers: readonly FoundSticker[], query: string, limit: number): readonly FoundSticker[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  return stickers
    .map((sticker, index) => ({ sticker, index, score: scoreOf(sticker, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.index - a.index)
    .slice(0, limit)
    .map(({ sticker }) => sticker);
}
