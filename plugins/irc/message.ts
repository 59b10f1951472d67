/** What people say, and what the bot says. */
import type { Address, Inbound, Reply } from "service-gateway/sdk";
import { type Parsed, type Part, readMention, type Static, Type, textParts } from "service-gateway/sdk/channel";
import { withoutFormatting } from "./line.ts";

/** A line that was said, with what was known when it came. */
export const said = Type.Object({
  id: Type.String(),
  nick: Type.String(),
  account: Type.String({ description: "The one at the network's services to which the nick is bound, or empty." }),
  target: Type.String({ description: "A channel, or the bot." }),
  me: Type.String({ description: "The bot's nick at that time." }),
  text: Type.String(),
  time: Type.String({ description: "When the server got it; empty if it does not say so." }),
});

/** Bytes of the longest line, less CR LF, the longest `:nick!user@host ` that a server adds, `PRIVMSG ` and ` :`. */
export const maxChars = 512 - 2 - (1 + 30 + 1 + 11 + 1 + 63 + 1) - 8 - 2;

/** Only ASCII: some servers take more letters for the same, and taking two people for one is the worse mistake. */
export const fold = (id: string): string => id.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** `wanted` addresses the bot too: while another holds its nick, people still write to that. */
export function parseSaid({ id, nick, account, target, me, time, text: written }: Static<typeof said>, wanted: string): Parsed {
  const action = /^\cAACTION ([^\cA]*)/.exec(written)?.[1];
  const plain = withoutFormatting(action === undefined ? written : `* ${nick} ${action}`);
  if (fold(nick) === fold(me) || plain.trim() === "") return null;
  const { text, mention } = readMention(plain, [me, wanted], { letters: "[]\\`^{|}" });
  // An id that can change hands has a `~`, which neither nicks nor accounts begin with.
  const sender = account === "" ? `~${nick}` : account;
  const direct = fold(target) === fold(me);
  return {
    chat: direct ? { id: sender, kind: "direct" } : { id: target, kind: "group", title: target },
    sender: { id: sender, name: nick, username: nick },
    text,
    mention: direct || mention,
    timestamp: Date.parse(time) || 0,
    messageId: id,
  };
}

/** A part for each line, cut to what the server hands on whole; a person may have changed to a longer nick. In a channel it is addressed to who asked. */
export function renderReply(reply: Reply, { chat }: Address, { inbound }: { readonly inbound?: Inbound } = {}): readonly Part[] {
  const limit = maxChars - Math.max(Buffer.byteLength(chat), 30);
  const lead = inbound?.chat.kind === "group" && inbound.sender.name !== undefined ? `${inbound.sender.name}: ` : "";
  return textParts(reply, { limit, unit: "bytes", eachLine: true, lead });
}
