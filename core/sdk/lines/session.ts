/** A bot at a server that speaks in lines: one connection after another, and sends that the server confirms. */
import { isDeepStrictEqual } from "node:util";
import { ChannelError } from "../../contract/index.ts";
import type { ChannelAccount } from "../contract.ts";
import { keepConnected, type LiveConnection } from "../keep-connected.ts";
import type { LineConnection } from "./connection.ts";

/** What a session has to know of a protocol. `LineProtocol` of `protocol.ts` describes each member. */
export interface SessionProtocol {
  connect(onLine: (line: string) => void): LineConnection;
  ping(token: string): string;
  readonly goodbye?: string;
  begin(link: SessionLink): { onLine(line: string): void; tend?(): void };
}

/** One connection, as the protocol sees it. `LineLink` of `protocol.ts` describes each member. */
export interface SessionLink extends Pick<LineConnection, "write" | "fail" | "lost"> {
  welcome(identity?: LiveConnection["identity"], detail?: string, code?: string): void;
  refuse(error: Error): void;
  confirm(token: string): void;
  reject(about: string, error: ChannelError): boolean;
}

export interface Session {
  /** Connects and stays connected, as `keepConnected` does. */
  start(): Promise<void>;
  /**
   * Sends a line and resolves when the server has handled it. `about` names what a refusal of the server would name,
   * such as the room. Throws `ChannelError`: `network` with fate `not-sent` while there is no connection, with fate
   * `unknown` if it is lost before the server has confirmed the line or `signal` aborts, or what the protocol passes to
   * `reject`.
   */
  send(line: string, options: { readonly about: string; readonly signal: AbortSignal }): Promise<void>;
  /** Says goodbye and closes. */
  close(): Promise<void>;
}

/** How often the server has to show that it still answers, and how long it may take, in milliseconds. */
const aliveMs = 60_000;
const silentMs = 30_000;

type LineAccount = Pick<ChannelAccount, "signal" | "status" | "now" | "newId" | "calling">;

/** What the latest welcome said. */
type Welcome = Omit<LiveConnection, "lost">;

interface Waiting {
  readonly about: string;
  end(error?: ChannelError): void;
}

const away = (detail: string, fate: "not-sent" | "unknown", hint?: string) =>
  new ChannelError("network", { detail, retryable: true, fate, ...(hint !== undefined && { hint }) });

/**
 * A server that talks and then ends the connection has refused the bot: advice about the network would mislead. An
 * error of the socket has a code.
 */
const signInError = (error: Error): Error =>
  error instanceof ChannelError || "code" in error
    ? error
    : new ChannelError("sign_in_refused", { detail: error.message, retryable: true, cause: error });

const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Connects again after each loss, reports the account's state, confirms each send by a ping behind it, and leaves a
 * server that does not answer a ping in time.
 */
export function createSession(account: LineAccount, protocol: SessionProtocol): Session {
  let live: ReturnType<typeof createLink> | undefined;
  /** Why there is no connection. */
  let failure: unknown;

  async function connect(signal: AbortSignal): Promise<LiveConnection> {
    const link = createLink(account, protocol);
    signal.addEventListener("abort", link.close, { once: true });
    void link.lost.then((error) => {
      if (live !== link) return;
      live = undefined;
      failure = error;
    });
    try {
      await link.welcomed;
      if (link.isOpen()) live = link;
      void link.tend().catch(() => {});
      const alive = setInterval(() => void link.tend().catch(() => {}), aliveMs);
      void link.lost.then(() => clearInterval(alive));
      // `keepConnected` reports what is known so far. Later changes are reported here.
      const welcome = link.onChange((changed) => {
        if (live === link && !signal.aborted)
          account.status({ state: "connected", lastContactAt: account.now(), ...changed });
      });
      return { lost: link.lost, ...welcome };
    } catch (error) {
      failure = error;
      link.close();
      throw error;
    }
  }

  return {
    start: () => keepConnected(account, connect),
    async send(line, { about, signal }) {
      if (signal.aborted) throw new ChannelError("aborted");
      if (live === undefined) {
        const why = failure instanceof Error ? `: ${failure.message}` : "";
        throw away(
          `There is no connection to the server${why}`,
          "not-sent",
          failure instanceof ChannelError ? failure.hint : undefined,
        );
      }
      await live.send(line, about, signal);
    },
    close: async () => live?.close(),
  };
}

/** One connection, from its first line to its last. */
function createLink(account: LineAccount, { connect, ping, goodbye, begin }: SessionProtocol) {
  /** Sends that the server has not confirmed, by the token of the ping behind them. */
  const waiting = new Map<string, Waiting>();
  const welcome = Promise.withResolvers<void>();
  let welcomed: Welcome = {};
  let changed: (welcome: Welcome) => void = () => {};
  // It may be rejected while nothing waits for it: where `begin` throws.
  welcome.promise.catch(() => {});
  let isHeard = false;
  const connection = connect((line) => {
    isHeard = true;
    try {
      conversation.onLine(line);
    } catch (error) {
      // Thrown into the socket, it would end the gateway.
      connection.fail(errorOf(error));
    }
  });
  let isOpen = true;
  void connection.lost.then((error) => {
    isOpen = false;
    welcome.reject(isHeard ? signInError(error) : error);
    for (const { end } of waiting.values())
      end(away(`${error.message}, before the server had confirmed the message`, "unknown"));
  });
  const link: SessionLink = {
    ...connection,
    welcome(identity = welcomed.identity, detail, code) {
      const before = welcomed;
      welcomed = {
        ...(identity && { identity }),
        ...(detail !== undefined && { detail }),
        ...(code !== undefined && { code }),
      };
      welcome.resolve();
      if (!isDeepStrictEqual(before, welcomed)) changed(welcomed);
    },
    refuse: (error) => welcome.reject(signInError(error)),
    confirm: (token) => waiting.get(token)?.end(),
    reject(about, error) {
      const found = [...waiting.values()].find((one) => one.about === about);
      found?.end(error);
      return found !== undefined;
    },
  };
  const conversation = begun();

  function begun(): ReturnType<SessionProtocol["begin"]> {
    try {
      return begin(link);
    } catch (error) {
      // Otherwise each attempt would leave an open socket.
      connection.fail(errorOf(error));
      throw error;
    }
  }

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

  /** A ping that the server has to answer in time. */
  async function pinged(): Promise<void> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), silentMs);
    try {
      await send(undefined, "", late.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    welcomed: welcome.promise,
    lost: connection.lost,
    isOpen: () => isOpen,
    /** Calls the listener for each later welcome that differs from the one before. Returns the latest. */
    onChange(listener: (welcome: Welcome) => void): Welcome {
      changed = listener;
      return welcomed;
    },
    close: () => connection.close(goodbye),
    send,
    /** Throws why the connection is gone if the server does not answer. */
    async tend(): Promise<void> {
      try {
        if (isOpen) conversation.tend?.();
      } catch (error) {
        connection.fail(errorOf(error));
      }
      try {
        if (isOpen) return await pinged();
      } catch {
        connection.fail(new Error("The server does not answer"));
      }
      throw await connection.lost;
    },
  };
}
