/** What the bot does on a network: it signs in, joins, listens and speaks. */
import { type ChannelAccount, ChannelError, type LineProtocol } from "service-gateway/sdk/channel";
import { type Handlers, type Line, parseLine } from "./line.ts";
import { fold, parseSaid, renderReply } from "./message.ts";
import type { Options } from "./options.ts";
import { createPeople } from "./people.ts";
import { type Here, report, signInHandlers } from "./sign-in.ts";

export function ircProtocol(account: ChannelAccount<Options>): LineProtocol {
  const { options } = account;
  const people = createPeople(account);
  const keys = new Map((options.channelKeys ?? "").split(/\s+/).map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)]));
  let lastCtcp = Number.NEGATIVE_INFINITY;

  function ctcp({ nick, params: [, text = ""] }: Line, { link }: Here): void {
    const [, query, rest] = /^\cA(PING|VERSION)([^\cA\r\0]*)/.exec(text) ?? [];
    if (query === undefined || account.now() - lastCtcp < 10_000) return;
    lastCtcp = account.now();
    link.write(`NOTICE ${nick} :\u0001${query}${query === "PING" ? rest : " service-gateway"}\u0001`);
  }

  const handlersOf = (here: Here): Handlers => ({
    ...signInHandlers(here, options),
    ...people.handlers,
    PING: ({ params }) => here.link.write(`PONG :${params.at(-1)}`),
    PONG: ({ params }) => here.link.confirm(params.at(-1) ?? ""),
    ERROR: ({ params }) => here.link.fail(new Error(`The server ended the connection: ${params.at(-1)}`)),
    PRIVMSG(line) {
      if (/^\cA(?!ACTION )/.test(line.params[1] ?? "")) ctcp(line, here);
      else people.take(line, here);
    },
    NICK({ nick, params: [next = ""] }) {
      if (fold(nick) === fold(here.me)) {
        here.me = next;
        if (here.signedIn) report(here);
      }
      people.rename(nick, next);
    },
    QUIT: ({ nick }) => void (fold(nick) === fold(options.nick) && here.link.write(`NICK ${options.nick}`)),
  });

  /** An error names what it is about behind the bot's nick. What is wrong with a channel is for the operator to read. */
  function refused({ command, params }: Line, here: Here): void {
    const [, target = ""] = params;
    const detail = `The server says of ${target}: ${params.at(-1)} (${command})`;
    const code = command === "401" || command === "403" ? "chat_not_found" : "irc_refused";
    if (here.link.reject(target, new ChannelError(code, { detail })) || !here.signedIn || !/^[#&!+]/.test(target)) return;
    here.detail = detail;
    report(here);
  }

  return {
    begin(link) {
      const here: Here = { link, me: options.nick, signedIn: false, caps: new Set() };
      const handlers = handlersOf(here);
      if (options.serverPassword !== undefined) link.write(`PASS :${options.serverPassword}`);
      for (const line of ["CAP LS 302", `NICK ${options.nick}`, `USER ${options.nick} 0 * :${options.nick}`]) link.write(line);
      return {
        onLine(text) {
          const line = parseLine(text);
          handlers[line.command]?.(line);
          if (/^[45]\d\d$/.test(line.command)) refused(line, here);
        },
        /** What was missed or taken away is asked for again; a server ignores a bot that joins twice. */
        tend() {
          if (fold(here.me) !== fold(options.nick)) link.write(`NICK ${options.nick}`);
          for (const name of options.channels) link.write(`JOIN ${name} ${keys.get(name) ?? ""}`.trim());
        },
      };
    },
    ping: (token) => `PING :${token}`,
    goodbye: "QUIT",
    message: (text, to) => `PRIVMSG ${to} :${text}`,
    reach: people.reach,
    fold,
    pace: options,
    parse: (raw) => parseSaid(raw, options.nick),
    render: renderReply,
  };
}
