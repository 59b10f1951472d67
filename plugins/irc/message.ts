/** What people say, and what the bot says. */
import type { Address, Inbound, Reply } from "service-gateway/sdk";
import { type LineLink, type LineMessage, type Part, textParts } from "service-gateway/sdk/channel";
import { type Line, withoutFormatting } from "./line.ts";

/** Bytes of the longest line, less CR LF, the longest `:nick!user@host ` that a server adds, `PRIVMSG ` and ` :`. */
export const maxChars = 512 - 2 - (1 + 30 + 1 + 11 + 1 + 63 + 1) - 8 - 2;

/** Only ASCII: some servers take more letters for the same, and taking two people for one is the worse mistake. */
export const fold = (id: string): string => id.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * What a nick says to the bot or in a channel. A nick can change hands: its id has a `~`, which neither nicks nor
 * accounts begin with.
 */
export function messageOf(
  { nick, tags, params: [target = "", text = ""] }: Line,
  { isBot }: Pick<LineLink, "isBot">,
): LineMessage {
  const action = /^\cAACTION ([^\cA]*)/.exec(text)?.[1];
  return {
    from: `~${nick}`,
    name: nick,
    room: isBot(target) ? undefined : target,
    text: withoutFormatting(action === undefined ? text : `* ${nick} ${action}`),
    id: tags.msgid,
    at: Date.parse(tags.time ?? ""),
    // The server sets the tag for users in bot mode.
    bot: "bot" in tags,
  };
}

/**
 * A part for each line, cut to what the server relays completely; a person may have changed to a longer nick. In a
 * channel it is addressed to who asked. A notice to them alone names the channel, because clients show it anywhere.
 */
export function renderReply(
  reply: Reply,
  { chat }: Address,
  { inbound }: { readonly inbound?: Inbound } = {},
): readonly Part[] {
  const limit = maxChars - Math.max(Buffer.byteLength(chat), 30);
  const addressed =
    inbound?.chat.kind === "group" && inbound.sender.name !== undefined ? `${inbound.sender.name}: ` : "";
  const lead = reply.to === "sender" ? `[${chat}] ` : addressed;
  return textParts(reply, { limit, unit: "bytes", eachLine: true, lead });
}
