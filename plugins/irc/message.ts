/** What people say, and what the bot says. */
import type { Address, Inbound, Json, Reply } from "service-gateway/sdk";
import { type Parsed, type Part, textParts } from "service-gateway/sdk/channel";
import { withoutFormatting } from "./line.ts";

const fields = ["id", "nick", "account", "target", "me", "text", "time"] as const;

/**
 * A line that was said, with what was known when it came. `account`: the one at the network's services to which the nick is bound; empty if there
 * is none. `target`: a channel, or the bot. `me`: the bot's nick at that time. `time`: when the server got it; empty if it does not say so.
 */
export type Said = Record<(typeof fields)[number], string>;

/** Bytes of the longest line, less CR LF, the longest `:nick!user@host ` that a server adds, `PRIVMSG ` and ` :`. */
export const maxChars = 512 - 2 - (1 + 30 + 1 + 11 + 1 + 63 + 1) - 8 - 2;

/** Only ASCII: some servers take more letters for the same, and taking two people for one is the worse mistake. */
export const fold = (id: string): string => id.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const isSaid = (raw: Json): raw is Said => fields.every((name) => typeof (raw as Partial<Said> | null)?.[name] === "string");

/** `wanted` addresses the bot too: while another holds its nick, people still write to that. */
export function parseSaid(raw: Json, wanted: string): Parsed {
  if (!isSaid(raw)) return undefined;
  const { id, nick, account, target, me, time } = raw;
  const action = /^\cAACTION ([^\cA]*)/.exec(raw.text)?.[1];
  const said = withoutFormatting(action === undefined ? raw.text : `* ${nick} ${action}`);
  if (fold(nick) === fold(me) || said.trim() === "") return null;
  const isBot = (word: string | undefined) => word !== undefined && [fold(me), fold(wanted)].includes(fold(word));
  const [lead = "", first] = /^@?([\w[\]\\`^{|}-]+)[:,]\s+/.exec(said) ?? [];
  // An id that can change hands has a `~`, which neither nicks nor accounts begin with.
  const sender = account === "" ? `~${nick}` : account;
  const direct = fold(target) === fold(me);
  return {
    chat: direct ? { id: sender, kind: "direct" } : { id: target, kind: "group", title: target },
    sender: { id: sender, name: nick, username: nick },
    text: isBot(first) ? said.slice(lead.length) : said,
    mention: direct || said.split(/[^\w[\]\\`^{|}-]+/).some(isBot),
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
