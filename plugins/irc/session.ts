/** What the bot does on a network: it signs in, joins, listens and speaks. */
import { type ChannelAccount, ChannelError, type LineProtocol } from "service-gateway/sdk/channel";
import { type Handlers, type Line, parseLine } from "./line.ts";
import { fold, parseSaid, renderReply, said } from "./message.ts";
import type { Options } from "./options.ts";
import { createSenders } from "./senders.ts";
import { type Here, signInHandlers } from "./sign-in.ts";

export function ircProtocol({ options, now, newId }: ChannelAccount<Options>): LineProtocol<typeof said> {
  const keys = new Map((options.channelKeys ?? "").split(/\s+/).map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)]));
  let lastCtcp = Number.NEGATIVE_INFINITY;

  function ctcp({ nick, params: [, text = ""] }: Line, { link }: Here): void {
    const [, query, rest] = /^\cA(PING|VERSION)([^\cA\r\0]*)/.exec(text) ?? [];
    if (query === undefined || now() - lastCtcp < 10_000) return;
    lastCtcp = now();
    link.write(`NOTICE ${nick} :\u0001${query}${query === "PING" ? rest : " service-gateway"}\u0001`);
  }

  function handlersOf(here: Here): Handlers {
    const { link } = here;
    const senders = createSenders(here, newId);
    const isMe = (nick = "") => fold(nick) === fold(link.name);
    const removed = (room = "", detail: string) => link.outOfRoom(room, new ChannelError("irc_shut_out", { detail }));
    return {
      ...signInHandlers(here, options),
      ...senders.handlers,
      PING: ({ params }) => link.write(`PONG :${params.at(-1)}`),
      PONG: ({ params }) => link.confirm(params.at(-1) ?? ""),
      ERROR: ({ params }) => link.fail(new Error(`The server ended the connection: ${params.at(-1)}`)),
      PRIVMSG(line) {
        const { name } = link;
        if (/^\cA(?!ACTION )/.test(line.params[1] ?? "")) ctcp(line, here);
        else link.receive(() => senders.said(line, name));
      },
      JOIN: ({ nick, params: [room = ""] }) => void (isMe(nick) && link.inRoom(room)),
      PART: ({ nick, params: [room] }) => void (isMe(nick) && removed(room, "The server took it out")),
      KICK: ({ nick, params: [room, who, why] }) => void (isMe(who) && removed(room, `${nick} removed it: ${why}`)),
      NICK: ({ nick, params: [next = ""] }) => link.renamed(nick, next),
      QUIT: ({ nick }) => link.left(nick),
    };
  }

  /** An error names what it is about behind the bot's nick. 404 is about a message alone, and comes after its send was given up. */
  function refused({ command, params }: Line, { link }: Here): void {
    const [, target = ""] = params;
    const words = `${params.at(-1)} (${command})`;
    const code = command === "401" || command === "403" ? "chat_not_found" : "irc_refused";
    const error = new ChannelError(code, { detail: `The server says of ${target}: ${words}` });
    if (!link.reject(target, error) && command !== "404") link.outOfRoom(target, new ChannelError("irc_shut_out", { detail: words }));
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
    rooms: { names: options.channels, join: (room) => `JOIN ${room} ${keys.get(room) ?? ""}`.trim() },
    ping: (token) => `PING :${token}`,
    goodbye: "QUIT",
    message: (text, to) => `PRIVMSG ${to} :${text}`,
    address: ({ nick, account }) => (account === "" ? undefined : nick),
    askAgain: ({ nick }) => `NOTICE ${nick} :I could not take that in. Please say it again later.`,
    reach(chat, address = chat.replace(/^~/, "")) {
      if (/^[^\s\p{Cc},:]+$/u.test(address)) return address;
      throw new ChannelError("chat_not_found", {
        detail: "This is neither a nick nor a channel",
        hint: "Use a nick, or a channel such as #bread.",
      });
    },
    fold,
    pace: options,
    event: said,
    parse: (event) => parseSaid(event, options.nick),
    render: renderReply,
  };
}
