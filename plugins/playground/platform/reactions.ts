/** The emoji that the platform accepts as reactions. */
export const reactionEmoji: readonly string[] = [
  ...(
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 " +
    "😐 🍓 🍾 💋 🖕 😈"
  ).split(" "),
  ...(
    "😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ " + "😡"
  ).split(" "),
];
const known: ReadonlySet<string> = new Set(reactionEmoji);

/**
 * The emoji as the platform stores it (without a variation selector); `undefined` if it is not accepted as a reaction.
 */
export function knownReaction(emoji: string): string | undefined {
  const plain = emoji.replaceAll("\ufe0f", "");
  return known.has(plain) ? plain : undefined;
}
