/** The emoji that the platform takes as reactions. */
export const reactionEmoji: readonly string[] = [
  ..."❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈".split(" "),
  ..."😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡".split(" "),
];
const known: ReadonlySet<string> = new Set(reactionEmoji);

/** The emoji as the platform stores it (without a variation selector), or nothing when it takes no such reaction. */
export function knownReaction(emoji: string): string | undefined {
  const plain = emoji.replaceAll("\ufe0f", "");
  return known.has(plain) ? plain : undefined;
}
