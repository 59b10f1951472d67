/** A bot on a platform that speaks in lines: one connection after another, and sends that the server confirms. */
import { ChannelError } from "../contract/index.ts";
import type { LineConnection } from "./connect-lines.ts";
import type { ChannelAccount } from "./contract.ts";
import { keepConnected, type LiveConnection } from "./keep-connected.ts";

/**
 * One connection of a line session. The protocol reports to it what the server's lines mean.
 *
 * @example
 * if (line === "WELCOME") link.welcome({ id: "bot", username: "bot" });
 */
export interface LineLink extends Pick<LineConnection, "write" | "fail" | "lost"> {
  /** The server lets the bot in, under this id and name: the account is connected, and messages are sent. */
  welcome(identity?: LiveConnection["identity"]): void;
  /** The server does not let the bot in. A `ChannelError` that is not retryable is final, as in `keepConnected`. */
  refuse(error: Error): void;
  /** The server has answered a ping, so it has handled what was sent before. Unknown tokens are ignored. */
  confirm(token: string): void;
  /** The server does not take what was sent about `about`. Returns whether such a send waits; the oldest one throws the error. */
  reject(about: string, error: ChannelError): boolean;
}

/**
 * What a session has to know of a protocol.
 *
 * @example
 * const protocol: LineProtocol = { connect, ping: (token) => `PING ${token}`, goodbye: "BYE", begin: (link) => ({ onLine: (line) => handle(line, link) }) };
 */
export interface LineProtocol {
  /** Opens a connection, such as `(onLine) => connectLines({ host, port, tls }, onLine)`. It must not call `onLine` before it returns. */
  connect(onLine: (line: string) => void): LineConnection;
  /** A line that the server answers with its token, after all that was sent before. */
  ping(token: string): string;
  /** The last line that the bot sends. */
  readonly goodbye?: string;
  /**
   * Begins a connection: writes the first lines and returns what handles those of the server. `tend`, where there is one, is called once the bot was let in and
   * then every minute, for what has to be asked for again, such as rooms that the bot was removed from.
   */
  begin(link: LineLink): { onLine(line: string): void; tend?(): void };
}

/**
 * The session of an account, as `createLineSession` returns it.
 *
 * @example
 * return { start: session.start, close: session.close, ...rest };
 */
export interface LineSession {
  /** Connects and stays connected, as `keepConnected` does. */
  start(): Promise<void>;
  /**
   * Sends a line and resolves when the server has handled it. `about` names what a refusal of the server would name, such as the room. Throws
   * `ChannelError`: `network` with fate `not-sent` while there is no connection, with fate `unknown` if it is lost before the server has
   * confirmed the line or `signal` aborts, or what the protocol passes to `reject`.
   */
  send(line: string, options: { readonly about: string; readonly signal: AbortSignal }): Promise<void>;
  /** Says goodbye and closes. */
  close(): Promise<void>;
}

/** How often the server has to show that it still answers, and how long it may take, in milliseconds. */
const aliveMs = 60_000;
const silentMs = 30_000;

type LineAccount = Pick<ChannelAccount, "signal" | "status" | "now" | "newId" | "calling">;

interface Waiting {
  readonly about: string;
  end(error?: ChannelError): void;
}

const away = (detail: string, fate: "not-sent" | "unknown") => new ChannelError("network", { detail, retryable: true, fate });

/**
 * Makes the session of an account with a server that speaks in lines. It connects again after each loss, reports the account's state, confirms
 * each send by a ping behind it, and leaves a server that does not answer a ping for 30 s.
 *
 * @example
 * const session = createLineSession(account, {
 *   connect: (onLine) => connectLines({ host: "chat.example.org", port: 7000, tls: true }, onLine),
 *   ping: (token) => `PING ${token}`,
 *   begin(link) {
 *     link.write("HELLO bot");
 *     return { onLine: (line) => (line.startsWith("PONG ") ? link.confirm(line.slice(5)) : link.welcome()) };
 *   },
 * });
 */
export function createLineSession(account: LineAccount, protocol: LineProtocol): LineSession {
  let live: ReturnType<typeof createLink> | undefined;

  async function connect(signal: AbortSignal): Promise<LiveConnection> {
    const link = createLink(account, protocol);
    signal.addEventListener("abort", link.close, { once: true });
    void link.lost.then(() => {
      if (live === link) live = undefined;
    });
    try {
      const identity = await link.welcomed;
      if (link.isOpen()) live = link;
      await link.tend();
      const alive = setInterval(() => void link.tend().catch(() => {}), aliveMs);
      void link.lost.then(() => clearInterval(alive));
      return { lost: link.lost, ...(identity && { identity }) };
    } catch (error) {
      link.close();
      throw error;
    }
  }

  return {
    start: () => keepConnected(account, connect),
    async send(line, { about, signal }) {
      if (signal.aborted) throw new ChannelError("aborted");
      if (live === undefined) throw away("There is no connection to the server", "not-sent");
      await live.send(line, about, signal);
    },
    close: async () => live?.close(),
  };
}

/** One connection, from its first line to its last. */
function createLink(account: LineAccount, { connect, ping, goodbye, begin }: LineProtocol) {
  /** Sends that the server has not confirmed, by the token of the ping behind them. */
  const waiting = new Map<string, Waiting>();
  const welcome = Promise.withResolvers<LiveConnection["identity"]>();
  const connection = connect((line) => {
    try {
      conversation.onLine(line);
    } catch (error) {
      // Thrown into the socket, it would end the gateway.
      connection.fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
  let isOpen = true;
  void connection.lost.then((error) => {
    isOpen = false;
    welcome.reject(error);
    for (const { end } of waiting.values()) end(away(`${error.message}, before the server had confirmed the message`, "unknown"));
  });
  const conversation = begin({
    ...connection,
    welcome: welcome.resolve,
    refuse: welcome.reject,
    confirm: (token) => waiting.get(token)?.end(),
    reject(about, error) {
      const found = [...waiting.values()].find((one) => one.about === about);
      found?.end(error);
      return found !== undefined;
    },
  });

  /** The server handles lines in their order, so its answer to the ping says that it has handled the line. */
  function send(line: string | undefined, about: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const token = account.newId();
    const succeeded = account.calling();
    const stop = () => reject(away("The send was stopped before the server had confirmed it", "unknown"));
    const end = (error?: ChannelError) => {
      if (error !== undefined) return reject(error);
      succeeded();
      resolve();
    };
    // First, because it throws where a line cannot be sent.
    if (line !== undefined) connection.write(line);
    connection.write(ping(token));
    waiting.set(token, { about, end });
    signal.addEventListener("abort", stop, { once: true });
    return promise.finally(() => {
      waiting.delete(token);
      signal.removeEventListener("abort", stop);
    });
  }

  return {
    welcomed: welcome.promise,
    lost: connection.lost,
    isOpen: () => isOpen,
    close: () => connection.close(goodbye),
    send,
    /** Throws why the connection is gone if the server does not answer. */
    async tend(): Promise<void> {
      if (isOpen) conversation.tend?.();
      try {
        if (isOpen) return await send(undefined, "", AbortSignal.timeout(silentMs));
      } catch {
        connection.fail(new Error("The server does not answer"));
      }
      throw await connection.lost;
    },
  };
}
