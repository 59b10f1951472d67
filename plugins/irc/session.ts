/** What the bot does on a network: it signs in, joins, listens and speaks. */
import { type ChannelAccount, ChannelError, connectLines, type LiveConnection, type Receipt } from "service-gateway/sdk/channel";
import { type Line, parseLine } from "./line.ts";
import { fold } from "./message.ts";
import { createPeople, type Known } from "./people.ts";
import { type SignIn, signInHandlers } from "./sign-in.ts";

export interface Options {
  readonly server: string;
  readonly port: number;
  readonly tls: boolean;
  readonly caFile?: string;
  readonly nick: string;
  readonly channels: readonly string[];
  readonly saslUser?: string;
  readonly saslPassword?: string;
  readonly serverPassword?: string;
}

/** One connection, from its first line to its last. */
interface Live extends SignIn, Known {
  readonly joined: Set<string>;
  /** Rounds that the server has not answered, by their token. */
  readonly rounds: Map<string, { readonly target: string; readonly end: (error?: ChannelError) => void }>;
}

interface Asking {
  readonly account: ChannelAccount<Options>;
  readonly signal: AbortSignal;
}

const aliveMs = 60_000;
const silentMs = 30_000;
const away = (detail: string, fate: "not-sent" | "unknown") => new ChannelError("network", { detail, retryable: true, fate });

/** Writes a line and a PING. The server handles lines in their order, so its PONG says that it has handled the line. */
function round(here: Live | undefined, line: string, target: string, { account, signal }: Asking): Promise<void> {
  if (signal.aborted) throw new ChannelError("aborted");
  if (here === undefined) throw away("There is no connection to the server", "not-sent");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const token = account.newId();
  const succeeded = account.calling();
  const stop = () => reject(away("The send was stopped before the server had confirmed it", "unknown"));
  const end = (error?: ChannelError) => {
    if (error !== undefined) return reject(error);
    succeeded();
    resolve();
  };
  here.rounds.set(token, { target: fold(target), end });
  signal.addEventListener("abort", stop, { once: true });
  if (line !== "") here.link.write(line);
  here.link.write(`PING :${token}`);
  return promise.finally(() => {
    here.rounds.delete(token);
    signal.removeEventListener("abort", stop);
  });
}

export function createSession(account: ChannelAccount<Options>) {
  const { options } = account;
  const people = createPeople(account);
  let live: Live | undefined;
  let lastCtcp = Number.NEGATIVE_INFINITY;

  function ctcp(text: string, nick: string, here: Live): void {
    const [, query, rest] = /^\cA(PING|VERSION)([^\cA]*)/.exec(text) ?? [];
    if (query === undefined || account.now() - lastCtcp < 10_000) return;
    lastCtcp = account.now();
    here.link.write(`NOTICE ${nick} :\u0001${query}${query === "PING" ? rest : " service-gateway"}\u0001`);
  }

  const handlers: Readonly<Record<string, (line: Line, here: Live) => void>> = {
    ...signInHandlers(options),
    PING: ({ params }, { link }) => link.write(`PONG :${params.at(-1)}`),
    PONG: ({ params }, { rounds }) => rounds.get(params.at(-1) ?? "")?.end(),
    ERROR: ({ params }, { link }) => link.fail(new Error(`The server ended the connection: ${params.at(-1)}`)),
    PRIVMSG(line, here) {
      const text = line.params[1] ?? "";
      if (text.startsWith("\u0001") && !text.startsWith("\u0001ACTION ")) return ctcp(text, line.nick, here);
      people.take(line, here);
    },
    NICK({ nick, params: [next = ""] }, here) {
      if (fold(nick) === fold(here.me)) here.me = next;
      people.rename(nick, next);
    },
    QUIT: ({ nick }, { link }) => void (fold(nick) === fold(options.nick) && link.write(`NICK ${options.nick}`)),
    JOIN: ({ nick, params: [name = ""] }, { me, joined }) => void (fold(nick) === fold(me) && joined.add(fold(name))),
    KICK: ({ params: [name = "", nick = ""] }, { me, joined }) => void (fold(nick) === fold(me) && joined.delete(fold(name))),
    354({ params: [, , found = "0"] }, here) {
      here.found = found === "0" ? null : found;
    },
    315: (_, { answered }) => answered(),
  };
  const handle = (text: string, here: Live) => {
    const line = parseLine(text);
    if (line === undefined) return;
    handlers[line.command]?.(line, here);
    // An error names what it is about behind the bot's nick.
    if (!/^[45]\d\d$/.test(line.command)) return;
    const [, target = ""] = line.params;
    const detail = `The server says of ${target}: ${line.params.at(-1)} (${line.command})`;
    const about = [...here.rounds.values()].find((one) => one.target === fold(target));
    about?.end(new ChannelError(line.command === "401" || line.command === "403" ? "chat_not_found" : "irc_refused", { detail }));
    if (about === undefined && /^[#&!+]/.test(target)) account.status({ state: "connected", detail, lastContactAt: account.now() });
  };

  /** What was missed or taken away is asked for again from time to time; each time shows that the server still answers. */
  async function tend(here: Live): Promise<void> {
    if (fold(here.me) !== fold(options.nick)) here.link.write(`NICK ${options.nick}`);
    for (const name of options.channels) if (!here.joined.has(fold(name))) here.link.write(`JOIN ${name}`);
    const silent = () => here.link.fail(new Error("The server does not answer"));
    if (live === here) await round(here, "", "", { account, signal: AbortSignal.timeout(silentMs) }).catch(silent);
  }

  return {
    async connect(signal: AbortSignal): Promise<LiveConnection> {
      const welcome = Promise.withResolvers<void>();
      const link = connectLines({ ...options, host: options.server }, (text) => handle(text, here));
      const here: Live = {
        link,
        welcome,
        me: options.nick,
        caps: new Set(),
        offered: new Set(),
        whox: false,
        signedIn: false,
        joined: new Set(),
        rounds: new Map(),
        found: null,
        answered: () => {},
      };
      signal.addEventListener("abort", () => link.close("QUIT"), { once: true });
      let alive: NodeJS.Timeout | undefined;
      let gone: Error | undefined;
      void link.lost.then((error) => {
        gone = error;
        clearInterval(alive);
        if (live === here) live = undefined;
        welcome.reject(error);
        for (const { end } of here.rounds.values()) end(away(`${error.message}, before the server had confirmed the message`, "unknown"));
      });
      if (options.serverPassword !== undefined) link.write(`PASS :${options.serverPassword}`);
      for (const line of ["CAP LS 302", `NICK ${options.nick}`, `USER ${options.nick} 0 * :${options.nick}`]) link.write(line);
      await welcome.promise.catch((error: unknown) => {
        link.close("QUIT");
        throw error;
      });
      if (gone === undefined) live = here;
      await tend(here);
      if (gone !== undefined) throw gone;
      alive = setInterval(() => void tend(here), aliveMs);
      return { lost: link.lost, identity: { id: here.me, username: here.me } };
    },
    async send(text: string, chat: string, signal: AbortSignal): Promise<Receipt> {
      const target = await people.targetOf(chat);
      await round(live, `PRIVMSG ${target} :${text}`, target, { account, signal });
      return { messageId: account.newId() };
    },
    close: () => live?.link.close("QUIT"),
  };
}
