/** Names of emoji, and back. */
import { describe, expect, test } from "vitest";
import { emojiFromName, emojiName } from "../../../core/sdk/emoji/emoji-names.ts";

describe("the emoji of a name", () => {
  test.each([
    [":thumbsup:", "👍"],
    ["+1", "👍"],
    ["-1", "👎"],
    ["THUMBSUP", "👍"],
    ["heart", "❤️"],
    ["eyes", "👀"],
    ["white_check_mark", "✅"],
    ["thinking_face", "🤔"],
    ["thinking", "🤔"],
    ["large_green_circle", "🟢"],
    ["rolling_on_the_floor_laughing", "🤣"],
    ["woman-shrugging", "🤷‍♀️"],
    ["flag-de", "🇩🇪"],
    ["us", "🇺🇸"],
    ["+1::skin-tone-4", "👍🏽"],
    [":wave::skin-tone-2:", "👋🏻"],
    ["thumbsup_medium_dark_skin_tone", "👍🏾"],
    ["wave_medium_skin_tone", "👋🏽"],
    ["point_up::skin-tone-6", "☝🏿"],
    ["woman_technologist::skin-tone-3", "👩🏼‍💻"],
    // The tone of one person would be wrong for the other.
    ["couple_with_heart_woman_man::skin-tone-3", "👩‍❤️‍👨"],
  ])("%s is %s", (name, emoji) => expect(emojiFromName(name)).toBe(emoji));

  test.each([
    "",
    ":",
    "::",
    "parrot_dance",
    "flag-",
    "flag-dee",
    "constructor",
    "__proto__",
    "::skin-tone-2",
    " heart",
  ])("is unknown for %j", (name) => expect(emojiFromName(name)).toBeUndefined());
});

describe("the name of an emoji", () => {
  test.each([
    ["👍", "+1"],
    ["👍🏽", "+1"],
    ["❤️", "heart"],
    ["❤", "heart"],
    ["🤔", "thinking_face"],
    ["🟢", "large_green_circle"],
    ["🎉", "tada"],
    ["☂️", "umbrella"],
    ["🇩🇪", "flag-de"],
    ["🇬🇧", "flag-gb"],
    [":parrot_dance:", "parrot_dance"],
  ])("%s is %s", (emoji, name) => expect(emojiName(emoji)).toBe(name));

  test.each(["", "x", "👍👍", "hello :x:", ":a b:", "🇩", "\ufe0f"])("is unknown for %j", (text) =>
    expect(emojiName(text)).toBeUndefined(),
  );

  test("leads back to the emoji, for each that people react with on Telegram", () => {
    const reactions = [
      "👍 👎 ❤️ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊️ 🤡 🥱 🥴 😍 🐳 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓",
      "🍾 💋 🖕 😈 😴 😭 🤓 👻 👀 🎃 🙈 😇 😨",
      "🤝 ✍️ 🤗 🫡 🎅 🎄 ☃️ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂️ 🤷 🤷‍♀️ 😡",
    ].join(" ");
    const bare = (emoji = "") => emoji.replaceAll("\ufe0f", "");
    for (const emoji of reactions.split(" "))
      expect(bare(emojiFromName(emojiName(emoji) ?? "")), emoji).toBe(bare(emoji));
  });
});
