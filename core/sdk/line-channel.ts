/** A whole connection of a channel whose platform speaks in lines, made of what only its author can know. */
import { ChannelError, type Json, type Part, reasonOf } from "../contract/index.ts";
import { connectLines, type LineConnection } from "./connect-lines.ts";
import type { ChannelAccount, ChannelConnection } from "./contract.ts";
import type { LiveConnection } from "./keep-connected.ts";
import { createLineSession } from "./line-session.ts";
import { createTokenBucket } from "./token-bucket.ts";

/**
 * One connection to the server. The protocol reports to it what the server's lines mean.
 *
 * @example
 * if (line === "WELCOME") link.welcome({ id: "bot", username: "bot" });
 */
export interface LineLink extends Pick<LineConnection, "write" | "fail" | "lost"> {
  /**
   * The server lets the bot in, under this id and name: the account is connected, and messages are sent. `detail` is what the operator should
   * know all the same, as a sentence. Call it again when this changes, such as when the bot has its name back or has lost a room: a call without
   * an identity keeps the last one, and a call without a detail clears it. What the server answers to `tend` comes after the first call, so a
   * room that the bot may not enter is reported by a later one. `code` is the code of that detail, whose hint the operator reads behind it. Calls
   * after the connection is lost have no effect.
   */
  welcome(identity?: LiveConnection["identity"], detail?: string, code?: string): void;
  /** The server does not let the bot in. A `ChannelError` that is not retryable is final, as in `keepConnected`. */
  refuse(error: Error): void;
  /** The server has answered a ping, so it has handled what was sent before. Unknown tokens are ignored. */
  confirm(token: string): void;
  /** The server does not take what was sent to `to`. Returns whether such a send waits; the oldest one throws the error. */
  reject(to: string, error: ChannelError): boolean;
  /**
   * Submits what a person wrote, for `parse`, as `ChannelAccount.receive` does. Resolves with false if it could not be stored, which the log
   * says: a server that keeps no messages will not send it again, so ask the person to. Never rejects.
   */
  receive(raw: Json, at?: Parameters<ChannelAccount["receive"]>[1]): Promise<boolean>;
}

/**
 * A protocol of lines: how the bot signs in, what a line means, and how a message is written. `parse` and `render` are those of
 * `ChannelConnection`; `textParts` makes the parts of a text, whose bodies are handed to `message`.
 *
 * @example
 * const protocol: LineProtocol = {
 *   ping: (token) => `PING ${token}`,
 *   begin(link) {
 *     link.write("HELLO bot");
 *     return { onLine: (line) => (line.startsWith("PONG ") ? link.confirm(line.slice(5)) : link.welcome()) };
 *   },
 *   message: (text, to) => `SAY ${to} ${text}`,
 *   parse,
 *   render: (reply) => textParts(reply, { limit: 400, eachLine: true }),
 * };
 */
export interface LineProtocol extends Pick<ChannelConnection, "parse" | "render"> {
  /** Opens a connection. It must not call `onLine` before it returns. Default: `connectLines` with the account's `serverOptions`. */
  connect?(onLine: (line: string) => void): LineConnection;
  /** A line that the server answers with its token, after all that was sent before. */
  ping(token: string): string;
  /** The last line that the bot sends. */
  readonly goodbye?: string;
  /**
   * Begins a connection: writes the first lines and returns what handles those of the server. `tend`, where there is one, is called once the bot was let in and
   * then every minute, for what has to be asked for again, such as rooms that the bot was removed from. What one of them throws costs the
   * connection, not the gateway.
   */
  begin(link: LineLink): { onLine(line: string): void; tend?(): void };
  /** The line that says `text` to `to`. */
  message(text: string, to: string): string;
  /**
   * Where a chat is reached, such as under which name. Throws a `ChannelError`, such as `chat_not_found`. Default: by the chat's id, if it is one
   * word. A webhook may name any text as the recipient, so what the protocol writes in front of it or behind it must not be part of one: where a comma
   * separates recipients, `ada,eve` would reach two.
   *
   * @example
   * reach(chat) {
   *   if (/^#?[\w-]+$/.test(chat)) return chat;
   *   throw new ChannelError("chat_not_found", { detail: "A recipient is a name or a room" });
   * },
   */
  reach?(chat: string): string | Promise<string>;
  /** The one form of a recipient, where servers write it in more than one, as with capital letters; for `LineLink.reject`. */
  fold?(to: string): string;
  /**
   * The pace of the server, for this account: messages that are sent at once, and milliseconds between those after them. Each message costs two
   * lines, its own and that of its ping, so halve a limit that counts lines. Default: no limit. With it, the connection has `admit`, which
   * `channelContract` wants listed in `functions`.
   */
  readonly pace?: { readonly burst: number; readonly everyMs: number };
}

type LineAccount = Pick<ChannelAccount<object>, "options" | "signal" | "status" | "now" | "newId" | "calling" | "receive" | "log">;

/**
 * Makes the connection of a channel whose platform speaks in lines. It connects, and connects again after each loss; reports the account's
 * state; sends a ping behind each message, and `send` resolves when the server has answered it; leaves a server that does not answer a ping for
 * 30 s; and says of each send that fails whether it may have happened. The message ids of its receipts are its own. It has no `probe`:
 * `channels status` shows the state that it reports.
 *
 * @example
 * export default defineChannel({
 *   id: "acme",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   options: Type.Object({ ...serverOptions({ port: 7000 }), name: Type.String() }),
 *   capabilities: { maxChars: 400 },
 *   open: (account) => createLineChannel(account, acmeProtocol(account.options)),
 * });
 */
export function createLineChannel(account: LineAccount, protocol: LineProtocol): ChannelConnection {
  const { begin, message, parse, render, pace, reach = oneWord, fold = (to) => to } = protocol;

  async function receive(raw: Json, at?: Parameters<ChannelAccount["receive"]>[1]): Promise<boolean> {
    try {
      await account.receive(raw, at);
      return true;
    } catch (error) {
      if (!account.signal.aborted) account.log.warn({ error: reasonOf(error) }, "a message could not be stored");
      return false;
    }
  }

  const session = createLineSession(account, {
    connect: (onLine) => connectLines(serverOf(account.options), onLine),
    ...protocol,
    begin: (link) => begin({ ...link, receive, reject: (to, error) => link.reject(fold(to), error) }),
  });
  const bucket = pace && createTokenBucket({ ...pace, now: account.now });
  return {
    start: session.start,
    close: session.close,
    parse,
    render,
    async send({ body }, { chat }, signal) {
      const to = await reach(chat);
      await session.send(message(String(body), to), { about: fold(to), signal });
      return { messageId: account.newId() };
    },
    ...(bucket && { admit: (_part: Part, _address: unknown, signal: AbortSignal) => bucket.take(signal) }),
  };
}

function oneWord(chat: string): string {
  if (/^[^\s\p{Cc}]+$/u.test(chat)) return chat;
  throw new ChannelError("chat_not_found", { detail: "A recipient is one word" });
}

type Server = Parameters<typeof connectLines>[0];

/** The account's `serverOptions`. A channel without them has a `connect` of its own. */
function serverOf(options: object): Server {
  const { server: host, port, tls, caFile } = options as Omit<Server, "host"> & { readonly server: string };
  return { host, port, tls, ...(caFile !== undefined && { caFile }) };
}
