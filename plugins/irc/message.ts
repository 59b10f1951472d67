/** What people say, and what the bot says. */
import type { Address, Inbound, Json, Reply } from "service-gateway/sdk";
import { type Parsed, type Part, textParts } from "service-gateway/sdk/channel";
import { withoutFormatting } from "./line.ts";

/** A line that was said, with what was known when it came. */
export interface Said {
  readonly id: string;
  readonly nick: string;
  /** The account at the network's services to which the nick is bound; `null`: none, or unknown. */
  readonly account: string | null;
  /** A channel, or the bot. */
  readonly target: string;
  /** The bot's nick at that time. */
  readonly me: string;
  readonly text: string;
  readonly at: number;
}

/** Bytes of the longest line, less CR LF, the longest `:nick!user@host ` that a server adds, `PRIVMSG ` and ` :`. */
const roomBytes = 512 - 2 - (1 + 30 + 1 + 11 + 1 + 63 + 1) - 8 - 2;
const longestNick = 30;
export const maxChars = roomBytes;

/** Only ASCII: some servers take more letters for the same, and taking two people for one is the worse mistake. */
export const fold = (id: string): string => id.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** An id that can change hands has a `~`, which neither nicks nor accounts begin with. */
const senderOf = ({ account, nick }: Pick<Said, "account" | "nick">): string => account ?? `~${nick}`;

function isSaid(raw: Json): raw is Json & Said {
  const { id, nick, account, target, me, text, at } = (raw ?? {}) as Partial<Record<keyof Said, unknown>>;
  const texts = [id, nick, target, me, text, account ?? ""].every((value) => typeof value === "string");
  return texts && Number.isFinite(at);
}

/** `wanted` addresses the bot too: while another holds its nick, people still write to that. */
export function parseSaid(raw: Json, wanted: string): Parsed {
  if (!isSaid(raw)) return undefined;
  const { id, nick, target, me, at } = raw;
  if (fold(nick) === fold(me)) return null;
  const action = /^\cAACTION ([^\cA]*)/.exec(raw.text)?.[1];
  const said = withoutFormatting(action === undefined ? raw.text : `* ${nick} ${action}`);
  if (said.trim() === "") return null;
  const isBot = (word: string | undefined) => word !== undefined && [fold(me), fold(wanted)].includes(fold(word));
  const [lead = "", first] = /^@?([\w[\]\\`^{|}-]+)[:,]\s+/.exec(said) ?? [];
  const sender = senderOf(raw);
  const direct = fold(target) === fold(me);
  return {
    chat: direct ? { id: sender, kind: "direct" } : { id: target, kind: "group", title: target },
    sender: { id: sender, name: nick, username: nick },
    text: isBot(first) ? said.slice(lead.length) : said,
    mention: direct || said.split(/[^\w[\]\\`^{|}-]+/).some(isBot),
    timestamp: at,
    messageId: id,
  };
}

/** A part for each line, cut to what the server hands on whole. In a channel it is addressed to who asked. */
export function renderReply(reply: Reply, { chat }: Address, about: { readonly inbound?: Inbound } = {}): readonly Part[] {
  const { inbound } = about;
  const limit = roomBytes - Math.max(Buffer.byteLength(chat), longestNick);
  const lead = inbound?.chat.kind === "group" && inbound.sender.name !== undefined ? `${inbound.sender.name}: ` : "";
  return textParts(reply, { limit, unit: "bytes", eachLine: true, lead });
}
