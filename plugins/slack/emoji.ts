/** Emoji by the names that Slack has for them. */

const names: Readonly<Record<string, string>> = {
  "👍": "+1",
  "👎": "-1",
  "👀": "eyes",
  "✅": "white_check_mark",
  "✔️": "heavy_check_mark",
  "❌": "x",
  "❤️": "heart",
  "🔥": "fire",
  "🎉": "tada",
  "🙏": "pray",
  "👏": "clap",
  "🤔": "thinking_face",
  "😂": "joy",
  "😄": "smile",
  "😢": "cry",
  "😡": "rage",
  "😱": "scream",
  "🤯": "exploding_head",
  "🚀": "rocket",
  "💯": "100",
  "⏳": "hourglass_flowing_sand",
  "⚠️": "warning",
  "🛑": "octagonal_sign",
  "🤖": "robot_face",
  "👋": "wave",
  "👌": "ok_hand",
  "💡": "bulb",
  "⚡": "zap",
  "✍️": "writing_hand",
  "😎": "sunglasses",
  "🤷": "shrug",
  "⭐": "star",
  "🎤": "microphone",
  "📝": "memo",
};

const bare = (emoji: string) => emoji.replaceAll("\ufe0f", "");
const byEmoji = new Map(Object.entries(names).map(([emoji, name]) => [bare(emoji), name]));
const byName = new Map(Object.entries(names).map(([emoji, name]) => [name, emoji]));

/** The name of an emoji; a name, also one of the workspace's own, is one already. `undefined`: it has none here. */
export function emojiName(emoji: string): string | undefined {
  const name = /^:?([a-z0-9_+'-]{1,100}):?$/.exec(emoji)?.[1];
  return name ?? byEmoji.get(bare(emoji));
}

export const emojiOf = (name: string): string => byName.get(name.replace(/::skin-tone-\d$/, "")) ?? `:${name}:`;
