/** What the bot does on a network: it signs in, joins, listens and speaks. */
import { type ChannelAccount, ChannelError, type LineLink, type LineProtocol } from "service-gateway/sdk/channel";
import { type Handlers, type Line, parseLine } from "./line.ts";
import { fold, parseSaid, renderReply } from "./message.ts";
import type { Options } from "./options.ts";
import { createPeople } from "./people.ts";
import { type Here, signInHandlers } from "./sign-in.ts";

/** Channels and errors about them are named so. */
const isChannel = (name: string) => /^[#&!+]/.test(name);

export function ircProtocol(account: ChannelAccount<Options>): LineProtocol {
  const { options } = account;
  const people = createPeople(account);
  const keys = new Map((options.channelKeys ?? "").split(/\s+/).map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)]));
  let lastCtcp = Number.NEGATIVE_INFINITY;

  function ctcp(text: string, nick: string, { link }: Here): void {
    const [, query, rest] = /^\cA(PING|VERSION)([^\cA\r\0]*)/.exec(text) ?? [];
    if (query === undefined || account.now() - lastCtcp < 10_000) return;
    lastCtcp = account.now();
    link.write(`NOTICE ${nick} :\u0001${query}${query === "PING" ? rest : " service-gateway"}\u0001`);
  }

  function handlersOf(here: Here): Handlers {
    const { link, joined } = here;
    const isMe = (nick: string) => fold(nick) === fold(here.me);
    return {
      ...signInHandlers(here, options),
      ...people.handlers,
      PING: ({ params }) => link.write(`PONG :${params.at(-1)}`),
      PONG: ({ params }) => link.confirm(params.at(-1) ?? ""),
      ERROR: ({ params }) => link.fail(new Error(`The server ended the connection: ${params.at(-1)}`)),
      PRIVMSG(line) {
        const text = line.params[1] ?? "";
        if (text.startsWith("\u0001") && !text.startsWith("\u0001ACTION ")) ctcp(text, line.nick, here);
        else people.take(line, here);
      },
      NICK({ nick, params: [next = ""] }) {
        if (isMe(nick)) here.me = next;
        people.rename(nick, next);
      },
      QUIT: ({ nick }) => void (fold(nick) === fold(options.nick) && link.write(`NICK ${options.nick}`)),
      JOIN: ({ nick, params: [name = ""] }) => void (isMe(nick) && joined.add(fold(name))),
      KICK: ({ params: [name = "", nick = ""] }) => void (isMe(nick) && joined.delete(fold(name))),
    };
  }

  /** An error names what it is about behind the bot's nick. */
  function refused({ command, params }: Line, link: LineLink): void {
    const [, target = ""] = params;
    const detail = `The server says of ${target}: ${params.at(-1)} (${command})`;
    const code = command === "401" || command === "403" ? "chat_not_found" : "irc_refused";
    if (!link.reject(target, new ChannelError(code, { detail })) && isChannel(target)) account.status({ state: "connected", detail });
  }

  return {
    ping: (token) => `PING :${token}`,
    goodbye: "QUIT",
    begin(link) {
      const here: Here = { link, me: options.nick, signedIn: false, caps: new Set(), whox: false, joined: new Set() };
      const handlers = handlersOf(here);
      if (options.serverPassword !== undefined) link.write(`PASS :${options.serverPassword}`);
      for (const line of ["CAP LS 302", `NICK ${options.nick}`, `USER ${options.nick} 0 * :${options.nick}`]) link.write(line);
      return {
        onLine(text) {
          const line = parseLine(text);
          if (line === undefined) return;
          handlers[line.command]?.(line);
          if (/^[45]\d\d$/.test(line.command)) refused(line, link);
        },
        /** What was missed or taken away is asked for again. */
        tend() {
          if (fold(here.me) !== fold(options.nick)) link.write(`NICK ${options.nick}`);
          for (const name of options.channels) if (!here.joined.has(fold(name))) link.write(`JOIN ${name} ${keys.get(name) ?? ""}`.trim());
        },
      };
    },
    parse: (raw) => parseSaid(raw, options.nick),
    render: renderReply,
    message: (text, to) => `PRIVMSG ${to} :${text}`,
    reach: people.reach,
    fold,
    pace: options,
  };
}
