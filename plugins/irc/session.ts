/** What the bot does on a network: it signs in, joins, listens and speaks. */
import { type ChannelAccount, ChannelError, type LiveConnection, type Receipt } from "service-gateway/sdk/channel";
import type { Line } from "./line.ts";
import { type Link, openLink } from "./link.ts";
import { fold, isDirect, type Said, senderOf } from "./message.ts";
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
interface Live extends SignIn {
  readonly link: Link;
  readonly joined: Set<string>;
  /** Rounds that the server has not answered, by their token. */
  readonly rounds: Map<string, { readonly target: string; readonly end: (error?: ChannelError) => void }>;
  /** The account of the nick that was asked about last. */
  found: string | null;
  answered: () => void;
}

const aliveMs = 60_000;
const silentMs = 30_000;
const away = (detail: string, fate: "not-sent" | "unknown") => new ChannelError("network", { detail, retryable: true, fate });

export function createSession(account: ChannelAccount<Options>) {
  const { options } = account;
  const nicks = new Map<string, string>();
  let live: Live | undefined;
  let taking: Promise<unknown> = Promise.resolve();
  let lastCtcp = Number.NEGATIVE_INFINITY;

  /** Writes a line and a PING. The server handles lines in their order, so its PONG says that it has handled the line. */
  function round(line: string, target: string, signal: AbortSignal): Promise<void> {
    const here = live;
    if (signal.aborted) throw new ChannelError("aborted");
    if (here === undefined) throw away(`There is no connection to ${options.server}`, "not-sent");
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

  async function accountOf({ nick, tags }: Line, here: Live): Promise<string | null> {
    if (here.caps.has("account-tag")) return tags.account ?? null;
    if (!here.whox) return null;
    const asked = Promise.withResolvers<void>();
    Object.assign(here, { found: null, answered: asked.resolve });
    here.link.write(`WHO ${nick} %na`);
    await Promise.race([asked.promise, here.link.lost]);
    return here.found;
  }

  async function take(line: Line, here: Live, { me, at }: Pick<Said, "me" | "at">): Promise<void> {
    const [target = "", text = ""] = line.params;
    const { nick, tags } = line;
    const said: Said = { id: tags.msgid ?? account.newId(), nick, account: await accountOf(line, here), target, me, text, at };
    const sender = senderOf(said);
    try {
      if (said.account !== null) await remember(sender, nick);
      const chat = isDirect(said) ? sender : target;
      await account.receive({ ...said }, { id: said.id, lane: `irc:${account.id}:${chat}` });
    } catch (error) {
      // A server keeps nothing, so the sender is asked to repeat what could not be stored.
      account.log.warn({ error: String(error) }, "a message could not be stored");
      here.link.write(`NOTICE ${nick} :I could not take that in. Please say it again later.`);
    }
  }

  /** An answer goes to the nick that the account had last, also after a restart. */
  async function remember(sender: string, nick: string): Promise<void> {
    const id = fold(sender);
    if (nicks.get(id) === nick) return;
    nicks.set(id, nick);
    await account.store.set(`nick:${id}`, nick, { ttlSeconds: 30 * 86_400 });
  }

  async function targetOf(chat: string): Promise<string> {
    const target = /^[#&!+@%]/.test(chat)
      ? chat
      : chat.startsWith("~")
        ? chat.slice(1)
        : ((await account.store.get(`nick:${chat}`)) ?? chat);
    if (typeof target === "string" && /^[^\s\p{Cc},:]+$/u.test(target)) return target;
    throw new ChannelError("chat_not_found", { detail: "This is neither a nick nor a channel" });
  }

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
      const arrived = { me: here.me, at: Date.parse(line.tags.time ?? "") || account.now() };
      taking = taking.then(() => take(line, here, arrived));
    },
    NICK({ nick, params: [next = ""] }, here) {
      if (fold(nick) === fold(here.me)) here.me = next;
      for (const [id, known] of nicks) if (fold(known) === fold(nick)) taking = taking.then(() => remember(id, next)).catch(() => {});
    },
    QUIT: ({ nick }, { link }) => void (fold(nick) === fold(options.nick) && link.write(`NICK ${options.nick}`)),
    JOIN: ({ nick, params: [name = ""] }, { me, joined }) => void (fold(nick) === fold(me) && joined.add(fold(name))),
    KICK: ({ params: [name = "", nick = ""] }, { me, joined }) => void (fold(nick) === fold(me) && joined.delete(fold(name))),
    354({ params: [, , found = "0"] }, here) {
      here.found = found === "0" ? null : found;
    },
    315: (_, { answered }) => answered(),
  };
  const handle = (line: Line, here: Live) => {
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
    await round("", "", AbortSignal.timeout(silentMs)).catch(() => here.link.fail(new Error("The server does not answer")));
  }

  return {
    async connect(signal: AbortSignal): Promise<LiveConnection> {
      const welcome = Promise.withResolvers<void>();
      const link = openLink(options, (line) => handle(line, here));
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
      signal.addEventListener("abort", link.close, { once: true });
      let alive: NodeJS.Timeout | undefined;
      void link.lost.then((error) => {
        clearInterval(alive);
        if (live === here) live = undefined;
        welcome.reject(error);
        for (const { end } of here.rounds.values()) end(away(`${error.message}, before the server had confirmed the message`, "unknown"));
      });
      if (options.serverPassword !== undefined) link.write(`PASS :${options.serverPassword}`);
      for (const line of ["CAP LS 302", `NICK ${options.nick}`, `USER ${options.nick} 0 * :${options.nick}`]) link.write(line);
      await welcome.promise.catch((error: unknown) => {
        link.close();
        throw error;
      });
      live = here;
      await tend(here);
      alive = setInterval(() => void tend(here), aliveMs);
      return { lost: link.lost, identity: { id: here.me, username: here.me } };
    },
    async send(text: string, chat: string, signal: AbortSignal): Promise<Receipt> {
      const target = await targetOf(chat);
      await round(`PRIVMSG ${target} :${text}`, target, signal);
      return { messageId: account.newId() };
    },
    close: () => live?.link.close(),
  };
}
