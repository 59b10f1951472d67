/** Names of emoji, for platforms whose reactions are names. */
import { createRequire } from "node:module";
import { teamChatNames } from "./team-chat-names.ts";

/** The presentation as a picture. Platforms leave it out, or add it where it changes nothing. */
const asPicture = "\ufe0f";
const skinTones = ["\u{1f3fb}", "\u{1f3fc}", "\u{1f3fd}", "\u{1f3fe}", "\u{1f3ff}"] as const;
const toneWords = ["light", "medium_light", "medium", "medium_dark", "dark"];
const regionalA = 0x1f1e6;

interface Names {
  readonly emojiOf: ReadonlyMap<string, string>;
  /** By the emoji without `asPicture`. */
  readonly nameOf: ReadonlyMap<string, string>;
}

const bare = (emoji: string) => emoji.replaceAll(asPicture, "");

/** Read with the first name, because most processes need none. */
const names: () => Names = (() => {
  let made: Names | undefined;
  return () => {
    if (made !== undefined) return made;
    const loaded = createRequire(import.meta.url)("markdown-it-emoji/lib/data/full.mjs") as object;
    // An ES module in the source, and a CommonJS file in the package.
    const usual = Object.entries(("default" in loaded ? loaded.default : loaded) as Readonly<Record<string, string>>);
    const ofTeams = teamChatNames.split(",").map((pair) => pair.trim().split(" ") as [name: string, emoji: string]);
    const nameOf = new Map<string, string>();
    for (const [name, emoji] of [...ofTeams, ...usual]) if (!nameOf.has(bare(emoji))) nameOf.set(bare(emoji), name);
    made = { emojiOf: new Map([...usual, ...ofTeams]), nameOf };
    return made;
  };
})();

/** `flag-de` is the two letters of a country as symbols. */
function flag(name: string): string | undefined {
  const [, letters] = /^flag-([a-z]{2})$/.exec(name) ?? [];
  return letters && String.fromCodePoint(...[...letters].map((letter) => regionalA + letter.charCodeAt(0) - 97));
}

function flagName(emoji: string): string | undefined {
  if (!/^[\u{1f1e6}-\u{1f1ff}]{2}$/u.test(emoji)) return undefined;
  const letters = [...emoji].map((symbol) => String.fromCharCode((symbol.codePointAt(0) ?? 0) - regionalA + 97));
  return `flag-${letters.join("")}`;
}

/** Takes a skin tone off the end of a name: `+1::skin-tone-4` in Slack, `+1_medium_skin_tone` in Mattermost. */
function withoutTone(name: string): readonly [name: string, tone: string | undefined] {
  const number = /^(.+)::skin-tone-([2-6])$/.exec(name);
  if (number !== null) return [number[1] ?? "", skinTones[Number(number[2]) - 2]];
  const word = /^(.+?)_((?:medium_)?(?:light|dark)|medium)_skin_tone$/.exec(name);
  if (word !== null) return [word[1] ?? "", skinTones[toneWords.indexOf(word[2] ?? "")]];
  return [name, undefined];
}

/** A tone follows the person or hand. An emoji of several people keeps its own, because each of them has one. */
function withTone(emoji: string, tone: string | undefined): string {
  const people = emoji.match(/\p{Emoji_Modifier_Base}/gu) ?? [];
  if (tone === undefined || people.length !== 1) return emoji;
  return emoji.replace(/(\p{Emoji_Modifier_Base})\ufe0f?/u, `$1${tone}`);
}

/**
 * The emoji of a name, as Slack, Mattermost and GitHub write it, with or without colons: `:thumbsup:`, `+1`, `flag-de`,
 * `wave::skin-tone-4`. `undefined` if the name is not of Unicode, such as a team's own emoji.
 *
 * @example
 * emojiFromName("thumbsup"); // "\u{1f44d}"
 * // For the agent, a team's own emoji is its name.
 * const text = `Reaction added: ${emojiFromName(name) ?? `:${name}:`}`;
 */
export function emojiFromName(name: string): string | undefined {
  const [short, tone] = withoutTone(name.replace(/^:(.+):$/s, "$1").toLowerCase());
  const emoji = names().emojiOf.get(short) ?? flag(short);
  return emoji && withTone(emoji, tone);
}

/**
 * The name of an emoji for Slack and Mattermost, without colons: `+1` for a thumb of any skin tone. `undefined` for a
 * text that is not an emoji, or an emoji without a known name. A name between colons is returned without them, so that
 * an agent can react with a team's own emoji.
 *
 * @example
 * async react(messageId, emoji, { chat }) {
 *   const name = emojiName(emoji);
 *   if (name === undefined) throw new ChannelError("bad_request", { detail: `${emoji} has no name` });
 *   await api.call("reactions.add", { channel: chat, timestamp: messageId, name });
 * },
 */
export function emojiName(emoji: string): string | undefined {
  const [, own] = /^:([^\s:]+):$/.exec(emoji) ?? [];
  if (own !== undefined) return own;
  const text = bare(emoji);
  const { nameOf } = names();
  return flagName(text) ?? nameOf.get(text) ?? nameOf.get(text.replaceAll(/\p{Emoji_Modifier}/gu, ""));
}
