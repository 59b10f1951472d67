/** What the author of a channel of lines writes, `LineProtocol`, and what it reports to, `LineLink`. */
import type { TSchema } from "typebox";
import type { ChannelAccount, ChannelConnection, ChannelError, Parsed } from "../contract.ts";
import type { LiveConnection } from "../keep-connected.ts";
import type { LineConnection } from "./connection.ts";
import type { LineMessage } from "./message.ts";

/** What a `ChannelError` says besides its reason. */
type ErrorOptions = ConstructorParameters<typeof ChannelError>[1];

/**
 * One connection to the server. The protocol reports to it what the server's lines mean. `E` is the protocol's event.
 *
 * @example
 * if (line === "WELCOME") link.welcome({ id: "bot", username: "bot" });
 */
export interface LineLink<E extends object = LineMessage> extends Pick<LineConnection, "write" | "fail" | "lost"> {
  /**
   * The current name of the bot. Before the server accepts the bot, the name that it asked for last. While the bot asks
   * for the wanted name, it still has the other one. Empty if the protocol has no `name`.
   */
  readonly name: string;
  /** Whether the bot has this name, in the form of `identity.fold`. */
  isBot(name: string): boolean;
  /**
   * The server has accepted the bot: the account is connected, its rooms are joined, and messages are sent. Call it
   * when the protocol has what it needs for the first message, such as the server's abilities. `identity` is who the
   * bot is. Default: that of the previous call, else `name` as id and name. `detail` is a sentence for the operator
   * about a connection that works, and `code` its code, whose hint the operator reads after it. Call it again when this
   * changes: a call without a detail clears it. Calls after the connection is lost have no effect.
   */
  welcome(identity?: LiveConnection["identity"], detail?: string, code?: string): void;
  /**
   * The server does not accept the bot. `reason` is a code, such as `unauthorized`; `more` is that of `ChannelError`.
   * It is final, as in `keepConnected`, unless `retryable` is set: then the bot tries again. After `welcome` it has no
   * effect.
   */
  refuse(reason: string, more?: ErrorOptions): void;
  /** The server has answered a ping, so it has handled what was sent before. Unknown tokens are ignored. */
  confirm(token: string): void;
  /**
   * The server has refused what was sent to `to`, in the spelling of `reach` or in one that has the same form by
   * `identity.fold`. The oldest waiting send to it fails with a `ChannelError` of this reason, so `retryable` and
   * `hint` of `more` decide what happens to the message. If no send waits, and `to` is one of `rooms` that the bot is
   * not in, the room does not admit the bot: the operator reads `detail` of `more` after "The bot is not in <room>: ",
   * and the bot tries to join again every minute. Anything else is ignored, so you can report each refusal of the
   * server.
   */
  reject(to: string, reason: string, more?: ErrorOptions): void;
  /**
   * Someone is in this room now. Only the bot matters: an omitted `who` means the bot. Rooms that `rooms` does not name
   * are ignored. The same applies to `outOfRoom`.
   */
  inRoom(room: string, who?: string): void;
  /**
   * Someone is no longer in this room. `detail` says why the bot is not in it: the operator reads it after "The bot is
   * not in <room>: ", until the bot is in the room again. After a removal, the bot joins again after 1 s, then after
   * longer waits up to 60 s.
   */
  outOfRoom(room: string, detail: string, who?: string): void;
  /**
   * Another user has the name that the bot asked for. The bot asks for a similar one, and later for its own again. The
   * operator reads about it.
   */
  nameTaken(): void;
  /**
   * A user has a new name: a person, who is reached under it from now on, or the bot itself. Report it also if the
   * server gave the bot another name than it asked for (`link.renamed(link.name, given)`). If this frees the name that
   * the bot wants, the bot asks for it.
   */
  renamed(from: string, to: string): void;
  /**
   * A user has left. Another user may take the name, so it is forgotten as an address. If it is the name that the bot
   * wants, the bot asks for it.
   */
  left(name: string): void;
  /**
   * Submits a message of a person for `parse`, as `ChannelAccount.receive` does, in the order of the calls. An event
   * for which `parse` returns `null` is not stored.
   *
   * `complete` asks the server for more, such as about the sender. It is called when the earlier events are complete,
   * and what it returns replaces members of the event. If it rejects or takes 30 s, the event is stored unchanged, so
   * leave out of the event what only the answer may grant. When the server answers, another user may have the sender's
   * name: compare the answer with the line.
   *
   * If an event cannot be stored, the log says so, and the line of `askAgain` is written.
   *
   * @example
   * const complete = async () => ({ from: await accountOf(nick, host) });
   * link.receive({ from: `~${nick}`, text, address: nick }, { complete });
   */
  receive(
    event: E,
    more?: NonNullable<Parameters<ChannelAccount["receive"]>[1]> & { readonly complete?: () => Promise<Partial<E>> },
  ): void;
  /**
   * Writes a line that asks the server, and resolves with the arguments of the calls of `answer` up to `answered`.
   * Rejects for a line that `write` refuses, and if the connection is lost. Call `answered` also if the server refuses
   * to answer: a server that is silent for 20 s is left. One question is asked at a time, and the `pace` does not delay
   * it. Do not store what an answer says about a person: by the next message, another user may have the name.
   *
   * @example
   * const [account] = await link.ask(`WHO ${nick}`);
   */
  ask(line: string): Promise<readonly string[]>;
  /** A part of the answer to the current question. */
  answer(text: string): void;
  /** The answer is complete. */
  answered(): void;
}

/**
 * A line of the server, as `LineProtocol.read` returns it: its command, and what else the protocol's handlers want to
 * know of it.
 */
export interface ReadLine {
  readonly command: string;
}

/**
 * What the bot does about a line, by the line's command.
 *
 * @example
 * const handlers: LineHandlers<Line> = { PONG: ({ words: [token = ""] }) => link.confirm(token) };
 */
export type LineHandlers<L extends ReadLine> = Readonly<Record<string, (line: L) => void>>;

/**
 * A protocol of lines: how the bot signs in, what a line means, and how a message is written. `L` is what `read` makes
 * of a line, `E` the protocol's event.
 *
 * @example
 * const protocol: LineProtocol<Line> = {
 *   read(text) {
 *     const [command = "", ...words] = text.split(" ");
 *     return { command, words };
 *   },
 *   begin(link) {
 *     link.write("HELLO bot");
 *     return {
 *       WELCOME: () => link.welcome(),
 *       PONG: ({ words: [token = ""] }) => link.confirm(token),
 *       MESSAGE: ({ words: [from = "", ...words] }) => link.receive({ from, text: words.join(" ") }),
 *     };
 *   },
 *   ping: (token) => `PING ${token}`,
 *   message: (text, to) => `SAY ${to} ${text}`,
 * };
 */
export interface LineProtocol<L extends ReadLine = ReadLine, E extends object = LineMessage> {
  /**
   * Parses a line of the server, which comes without its line end. For a text that is not a valid line, the command may
   * be empty.
   */
  read(text: string): L;
  /**
   * Begins a connection: writes the first lines and returns the handlers of the server's lines. An error of a handler
   * ends the connection, not the gateway.
   */
  begin(link: LineLink<E>): LineHandlers<L>;
  /**
   * Handles a line whose command has no handler, such as the many errors that a server may report. Default: such a line
   * is ignored.
   */
  otherwise?(line: L, link: LineLink<E>): void;
  /**
   * Opens a connection. It must not call `onLine` before it returns. Default: `connectLines` with the account's
   * `serverOptions`.
   */
  connect?(onLine: (line: string) => void): LineConnection;
  /**
   * A line that the server answers with its token, after everything that was sent before. It is written after each
   * message, and every minute.
   */
  ping(token: string): string;
  /** The last line that the bot sends. */
  readonly goodbye?: string;
  /**
   * The name that the bot wants, if another user can have it, and the line that asks for a name. `begin` writes that
   * line for the first time, at the place where the protocol requires it. While another user has the name
   * (`link.nameTaken`), the bot has a similar one, `link.name`. It asks for its own every minute, and when
   * `link.renamed` or `link.left` reports that it is free.
   *
   * @example
   * name: { wanted: options.nick, ask: (nick) => `NICK ${nick}` },
   */
  readonly name?: { readonly wanted: string; ask(name: string): string };
  /** Characters of names besides letters, digits, `_` and `-`, such as `[]` on IRC; see `readMention`. */
  readonly nameLetters?: string;
  /**
   * The rooms that the bot stays in, and the line that joins one. They are joined once the bot has signed in, at the
   * `pace`, and again whenever `link.outOfRoom` reports that it is not in one; `link.inRoom` reports that it is.
   *
   * @example
   * rooms: { names: options.rooms, join: (room) => `JOIN ${room}` },
   */
  readonly rooms?: { readonly names: readonly string[]; join(room: string): string };
  /** The line that sends `text` to `to`. */
  message(text: string, to: string): string;
  /**
   * The line that sends `text` to the person `to`, who wrote in a room, where the others are not to see it. Only for a
   * channel with the capability `ephemeral`. Default: `message`.
   *
   * @example
   * whisper: (text, to) => `NOTICE ${to} :${text}`,
   */
  whisper?(text: string, to: string): string;
  /**
   * Where to reach a chat, such as the person's present name; `undefined` if that is unknown (`chat_not_found`).
   * `address` is the latest one of this person, by the event and `link.renamed`. Default: the address, else the chat's
   * id. The result must be one word, and the id of the chat must match `identity.pattern` or `identity.groupPattern`. A
   * webhook may name any text as the recipient. So declare both patterns if some recipients have a special meaning for
   * the server: if a comma separates recipients, `ada,eve` would reach two.
   *
   * @example
   * reach: (chat, address) => (chat.startsWith("#") ? chat : address),
   */
  reach?(chat: string, address: string | undefined): string | undefined | Promise<string | undefined>;
  /**
   * The line that asks the sender to repeat a message, for a server that stores no messages. Default: none is written.
   */
  askAgain?(event: E): string;
  /** `render` of `ChannelConnection`. Default: plain text, a message for each line, of at most `maxChars` bytes. */
  readonly render?: ChannelConnection["render"];
  /**
   * The rate limit of the server, for this account: how many messages may be sent at once, and the milliseconds between
   * later ones. Joining a room uses up one message; lines of `link.write` are not delayed. Each message needs two
   * lines, its own and that of its ping, so halve a limit that is given in lines. Default: the account's `paceOptions`,
   * and without them no limit. With a pace, the connection has `admit`, which `channelContract` expects in `functions`.
   */
  readonly pace?: { readonly burst: number; readonly everyMs: number };
  /**
   * The schema of `E`, for a protocol whose events are not a `LineMessage`. Only events that match it reach `parse`. It
   * requires a `parse` of its own.
   */
  readonly event?: TSchema;
  /** `parse` of `ChannelConnection`, with a value that matches `event`. Pure: it also runs in a later process. */
  parse?(event: E): Parsed;
  /** Where the sender of such an event is reached, if not by the id; see `LineMessage.address`. */
  address?(event: E): string | undefined;
}
