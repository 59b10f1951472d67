/** Whether a text addresses the bot, for platforms where people do so by writing its name. */

/**
 * Whether a text contains one of the bot's names as a word, and the text without the name that addresses the bot at its
 * beginning: `bot: …`, `bot, …` or `@bot …`. So `bot: /status` becomes the command `/status`. Capital letters make no
 * difference. Letters, digits, `_` and `-` are part of a name; `letters` are the other characters that names of the
 * platform may contain, such as `[]` on IRC.
 *
 * @example
 * const { text, mention } = readMention("bot, what time is it?", ["bot"]); // "what time is it?", true
 */
export function readMention(
  text: string,
  names: readonly string[],
  { letters = "" }: { readonly letters?: string } = {},
): { readonly text: string; readonly mention: boolean } {
  const known = names.filter((name) => name !== "").map(escaped);
  if (known.length === 0) return { text, mention: false };
  const name = `(?:${known.join("|")})`;
  const letter = `[\\p{L}\\p{N}_\\-${escaped(letters.replaceAll("-", ""))}]`;
  if (!new RegExp(`(?<!${letter})${name}(?!${letter})`, "iu").test(text)) return { text, mention: false };
  const lead = new RegExp(`^\\s*(?:@${name}[:,]?|${name}[:,])(?:\\s+|$)`, "iu").exec(text)?.[0] ?? "";
  return { text: text.slice(lead.length), mention: true };
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
