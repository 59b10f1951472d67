/** The names of emoji: the server knows reactions by them. */

const names: Readonly<Record<string, string>> = {
  "👍": "+1",
  "👎": "-1",
  "👀": "eyes",
  "✅": "white_check_mark",
  "❌": "x",
  "⏳": "hourglass_flowing_sand",
  "⌛": "hourglass",
  "🎉": "tada",
  "❤": "heart",
  "🔥": "fire",
  "👏": "clap",
  "🙏": "pray",
  "🤔": "thinking",
  "😀": "grinning",
  "😁": "grin",
  "😂": "joy",
  "😅": "sweat_smile",
  "😊": "blush",
  "😍": "heart_eyes",
  "😎": "sunglasses",
  "😢": "cry",
  "😭": "sob",
  "😡": "rage",
  "😱": "scream",
  "😴": "sleeping",
  "🤯": "exploding_head",
  "🤷": "shrug",
  "🙈": "see_no_evil",
  "💯": "100",
  "💡": "bulb",
  "🚀": "rocket",
  "⚡": "zap",
  "⭐": "star",
  "⚠": "warning",
  "❓": "question",
  "❗": "exclamation",
  "🤖": "robot",
  "👋": "wave",
  "👌": "ok_hand",
  "💪": "muscle",
  "✍": "writing_hand",
  "🛠": "hammer_and_wrench",
  "🔍": "mag",
  "📝": "memo",
  "🏆": "trophy",
  "🍾": "champagne",
};
const emojis = new Map(Object.entries(names).map(([emoji, name]) => [name, emoji]));

/** `undefined` if the emoji has no name here. A custom emoji is named by itself, as in `:party_parrot:`. */
export function nameOfEmoji(emoji: string): string | undefined {
  const plain = emoji.replace(/[\uFE0F\u{1F3FB}-\u{1F3FF}]/gu, "");
  return names[plain] ?? /^:?([a-z0-9_+-]{1,64}):?$/.exec(plain)?.[1];
}

/** The emoji, or `:name:` for one that is not known here. */
export const emojiOfName = (name: string): string => emojis.get(name) ?? `:${name}:`;
