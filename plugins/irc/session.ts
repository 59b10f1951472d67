/** What the bot does on a network: it signs in, joins, listens and speaks. */
import type { ChannelAccount, LineLink, LineProtocol } from "service-gateway/sdk/channel";
import { type Line, parseLine } from "./line.ts";
import { fold, messageOf, renderReply } from "./message.ts";
import type { Options } from "./options.ts";
import { type Here, signInHandlers } from "./sign-in.ts";

/**
 * Numerics besides 4xx and 5xx for a message that was dropped: too many recipients in a short time, one who is asked
 * first (mode +g).
 */
const dropped: readonly string[] = ["707", "716"];
/** Numerics that say that the same message is taken later. */
const tooFast: readonly string[] = ["439", "707"];
/** What servers write in the place of an account where there is none. */
const noAccount: readonly string[] = ["", "0", "*"];

export function ircProtocol({ options, now }: ChannelAccount<Options>): LineProtocol<Line> {
  const pairs = (options.channelKeys ?? "")
    .split(/\s+/)
    .map((pair) => [pair.split("=", 1)[0] ?? "", pair.slice(pair.indexOf("=") + 1)] as const);
  const keys = new Map(pairs.map(([room, key]) => [fold(room), key]));
  let hadSasl = false;
  let lastCtcp = Number.NEGATIVE_INFINITY;

  function ctcp({ nick, params: [, text = ""] }: Line, { link }: Here): void {
    const [, query, rest] = /^\cA(PING|VERSION)([^\cA\r\0]*)/.exec(text) ?? [];
    if (query === undefined || now() - lastCtcp < 10_000) return;
    lastCtcp = now();
    link.write(`NOTICE ${nick} :\u0001${query}${query === "PING" ? rest : " service-gateway"}\u0001`);
  }

  /** The account at the network's services that the sender is signed in to, where the server knows it. */
  async function accountOf({ nick, place, tags }: Line, { link, caps }: Here) {
    const answers = caps.has("WHOX") && !caps.has("account-tag") ? await link.ask(`WHO ${nick} %uhna`) : [];
    // By now the nick may belong to another, who is at another place.
    const known = answers.find((answer) => answer.startsWith(`${place} `))?.slice(place.length + 1);
    const account = caps.has("account-tag") ? tags.account : known;
    return account === undefined || noAccount.includes(account) ? {} : { from: account, address: nick };
  }

  /** An error names what it is about behind the bot's nick. */
  function refused({ command, params: [, about = "", ...words] }: Line, link: LineLink): void {
    const code = command === "401" || command === "403" ? "chat_not_found" : "irc_refused";
    const later = tooFast.includes(command) ? { retryable: true, fate: "not-sent" as const } : {};
    if (/^[45]\d\d$/.test(command) || dropped.includes(command))
      link.reject(about, code, { detail: `${words.at(-1)} (${command})`, ...later });
  }

  return {
    read: parseLine,
    begin(link) {
      const signedIn = () => {
        hadSasl = true;
      };
      const here: Here = { link, caps: new Set(), hadSasl, signedIn };
      if (options.serverPassword !== undefined) link.write(`PASS :${options.serverPassword}`);
      for (const line of ["CAP LS 302", `NICK ${options.nick}`, `USER ${options.nick} 0 * :${options.nick}`])
        link.write(line);
      return {
        ...signInHandlers(here, options),
        PING: ({ params }) => link.write(`PONG :${params.at(-1)}`),
        PONG: ({ params }) => link.confirm(params.at(-1) ?? ""),
        ERROR: ({ params }) => link.fail(new Error(`The server ended the connection: ${params.at(-1)}`)),
        PRIVMSG(line) {
          // The server's own.
          if (line.nick === "") return;
          if (/^\cA(?!ACTION )/.test(line.params[1] ?? "")) ctcp(line, here);
          else link.receive(messageOf(line, link), { complete: () => accountOf(line, here) });
        },
        JOIN: ({ nick, params: [room = ""] }) => link.inRoom(room, nick),
        PART: ({ nick, params: [room = ""] }) => link.outOfRoom(room, "The server took it out", nick),
        KICK: ({ nick, params: [room = "", who = "", why = ""] }) =>
          link.outOfRoom(room, why ? `${nick} removed it: ${why}` : `${nick} removed it`, who),
        NICK: ({ nick, params: [next = ""] }) => link.renamed(nick, next),
        QUIT: ({ nick }) => link.left(nick),
        354: ({ params: [, user, host, , account] }) => link.answer(`${user}@${host} ${account}`),
        ...{ 315: () => link.answered(), 263: () => link.answered() },
        437(line) {
          // A nick or a channel that is held back after a split of the network.
          link.nameTaken();
          refused(line, link);
        },
      };
    },
    otherwise: refused,
    name: { wanted: options.nick, ask: (nick) => `NICK ${nick}` },
    nameLetters: "[]\\`^{|}",
    rooms: { names: options.channels, join: (room) => `JOIN ${room} ${keys.get(fold(room)) ?? ""}`.trim() },
    ping: (token) => `PING :${token}`,
    goodbye: "QUIT",
    message: (text, to) => `PRIVMSG ${to} :${text}`,
    whisper: (text, nick) => `NOTICE ${nick} :${text}`,
    askAgain: ({ name: nick }) => `NOTICE ${nick} :I could not take that in. Please say it again later.`,
    // The nick that is called like an account may be another person's.
    reach: (chat, address) => address ?? (/^[~#&!+]/.test(chat) ? chat.replace(/^~/, "") : undefined),
    render: renderReply,
  };
}
