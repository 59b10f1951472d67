/** What the bot does on a network: it signs in, joins, listens and speaks. */
import { type ChannelAccount, ChannelError, type LineProtocol } from "service-gateway/sdk/channel";
import { type Handlers, type Line, parseLine } from "./line.ts";
import { messageOf, renderReply } from "./message.ts";
import type { Options } from "./options.ts";
import { type Here, signInHandlers } from "./sign-in.ts";

export function ircProtocol({ options, now }: ChannelAccount<Options>): LineProtocol {
  const keys = new Map((options.channelKeys ?? "").split(/\s+/).map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)]));
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
    return account === undefined || account === "0" ? {} : { from: account, address: nick };
  }

  function handlersOf(here: Here): Handlers {
    const { link } = here;
    return {
      ...signInHandlers(here, options),
      PING: ({ params }) => link.write(`PONG :${params.at(-1)}`),
      PONG: ({ params }) => link.confirm(params.at(-1) ?? ""),
      ERROR: ({ params }) => link.fail(new Error(`The server ended the connection: ${params.at(-1)}`)),
      PRIVMSG(line) {
        if (/^\cA(?!ACTION )/.test(line.params[1] ?? "")) ctcp(line, here);
        else link.receive(messageOf(line, link.name), { complete: () => accountOf(line, here) });
      },
      JOIN: ({ nick, params: [room = ""] }) => void (link.isBot(nick) && link.inRoom(room)),
      PART: ({ nick, params: [room = ""] }) => void (link.isBot(nick) && link.outOfRoom(room, "The server took it out")),
      KICK: ({ nick, params: [room = "", who = "", why] }) => void (link.isBot(who) && link.outOfRoom(room, `${nick} removed it: ${why}`)),
      NICK: ({ nick, params: [next = ""] }) => link.renamed(nick, next),
      QUIT: ({ nick }) => link.left(nick),
      354: ({ params: [, user, host, , account] }) => link.answer(`${user}@${host} ${account}`),
      ...{ 315: () => link.answered(), 263: () => link.answered() },
    };
  }

  /** An error names what it is about behind the bot's nick. 404 is about a message alone, and comes after its send was given up. */
  function refused({ command, params }: Line, { link }: Here): void {
    const [, target = ""] = params;
    const words = `${params.at(-1)} (${command})`;
    const code = command === "401" || command === "403" ? "chat_not_found" : "irc_refused";
    const detail = `The server says of ${target}: ${words}`;
    if (!link.reject(target, code, { detail }) && command !== "404") link.outOfRoom(target, words);
  }

  return {
    begin(link) {
      const here: Here = { link, caps: new Set() };
      const handlers = handlersOf(here);
      if (options.serverPassword !== undefined) link.write(`PASS :${options.serverPassword}`);
      for (const line of ["CAP LS 302", `NICK ${options.nick}`, `USER ${options.nick} 0 * :${options.nick}`]) link.write(line);
      return {
        onLine(text) {
          const line = parseLine(text);
          handlers[line.command]?.(line);
          if (/^[45]\d\d$/.test(line.command)) refused(line, here);
        },
      };
    },
    name: { wanted: options.nick, ask: (nick) => `NICK ${nick}` },
    nameLetters: "[]\\`^{|}",
    rooms: { names: options.channels, join: (room) => `JOIN ${room} ${keys.get(room) ?? ""}`.trim() },
    ping: (token) => `PING :${token}`,
    goodbye: "QUIT",
    message: (text, to) => `PRIVMSG ${to} :${text}`,
    askAgain: ({ name: nick }) => `NOTICE ${nick} :I could not take that in. Please say it again later.`,
    reach(chat, address = chat.replace(/^~/, "")) {
      if (/^[^\s\p{Cc},:]+$/u.test(address)) return address;
      throw new ChannelError("chat_not_found", {
        detail: "This is neither a nick nor a channel",
        hint: "Use a nick, or a channel such as #bread.",
      });
    },
    render: renderReply,
  };
}
