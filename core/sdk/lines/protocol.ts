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
   * The name that the bot has; before the server lets it in, the one that it asked for last. While the bot asks for the
   * wanted name, it has the other one. Empty if the protocol has no `name`.
   */
  readonly name: string;
  /** Whether the bot has this name, in the form of `identity.fold`. */
  isBot(name: string): boolean;
  /**
   * The server lets the bot in: the account is connected, its rooms are joined, and messages are sent. Call it when the
   * protocol knows what it has to know before the first message, such as what the server can do. `identity` is who the
   * bot is; by default that of the call before, else `name` is its id and its name. `detail` is what the operator
   * should know all the same, as a sentence, and `code` the code of it, whose hint the operator reads behind it. Call
   * it again when this changes: a call without a detail clears it. Calls after the connection is lost have no effect.
   */
  welcome(identity?: LiveConnection["identity"], detail?: string, code?: string): void;
  /**
   * The server does not let the bot in. `reason` is a code, such as `unauthorized`; `more` is that of `ChannelError`.
   * It is final, as in `keepConnected`, unless `retryable` is set: then the bot tries again. After `welcome` it has no
   * effect.
   */
  refuse(reason: string, more?: ErrorOptions): void;
  /** The server has answered a ping, so it has handled what was sent before. Unknown tokens are ignored. */
  confirm(token: string): void;
  /**
   * The server does not take what was sent to `to`, in the spelling of `reach` or in another one that `identity.fold`
   * makes the same. The oldest send to it that waits fails with a `ChannelError` of this reason, so `retryable` and
   * `hint` of `more` decide what happens to the message. If none waits, and `to` is one of `rooms` that the bot is not
   * in, the server does not let it in: the operator reads `detail` of `more` behind "The bot is not in <room>: ", and
   * the room is asked again every minute. Anything else is ignored, so each refusal of the server may be handed in.
   */
  reject(to: string, reason: string, more?: ErrorOptions): void;
  /**
   * Someone is in this room now. Only the bot counts, and it is meant if `who` is left out; rooms that `rooms` does not
   * name are ignored. The same holds for `outOfRoom`.
   */
  inRoom(room: string, who?: string): void;
  /**
   * Someone is no longer in this room. `detail` says why the bot is not: the operator reads it behind "The bot is not
   * in <room>: ", until the bot is in the room again. After a removal the bot joins again after 1 s, then after longer
   * waits up to 60 s.
   */
  outOfRoom(room: string, detail: string, who?: string): void;
  /**
   * Another has the name that the bot asked for. The bot asks for a similar one, and later for its own again; the
   * operator reads so.
   */
  nameTaken(): void;
  /**
   * Someone has another name now: a person, who is reached under it from now on, or the bot itself, also where the
   * server gave it another name than it asked for (`link.renamed(link.name, given)`). If that frees the name that the
   * bot wants, the bot asks for it.
   */
  renamed(from: string, to: string): void;
  /**
   * Someone has left. Their name may belong to another from now on, so it is forgotten as an address; if it is the one
   * that the bot wants, the bot asks for it.
   */
  left(name: string): void;
  /**
   * Submits what a person wrote, for `parse`, as `ChannelAccount.receive` does, in the order of the calls. An event for
   * which `parse` returns `null` is not stored. `complete` is for what takes a question to the server, such as one
   * about the sender: it is called when the events before are complete, and what it returns replaces members of the
   * event. If it rejects, or takes 30 s, the event is stored as it is, so leave out of it what only the answer may
   * grant. The name of the sender may belong to another when the server answers: compare what it says with what the
   * line said. If an event cannot be stored, the log says so, and the line of `askAgain` is written.
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
   * Writes a line that asks the server, and resolves with what `answer` is called with until `answered` is called, or
   * the connection is lost. Call `answered` also where the server refuses to answer: one that says nothing for 20 s is
   * left. One question is under way at a time, and the `pace` does not delay it. Do not remember what an answer says of
   * a person: their name may be another's by the next message. Rejects only for a line that `write` refuses.
   *
   * @example
   * const [account] = await link.ask(`WHO ${nick}`);
   */
  ask(line: string): Promise<readonly string[]>;
  /** A part of the answer to the question that is under way. */
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
  /** Reads a line of the server, which comes without its end. Of a line that is none, the command may be empty. */
  read(text: string): L;
  /**
   * Begins a connection: writes the first lines and returns what handles those of the server. What one of them throws
   * costs the connection, not the gateway.
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
   * A line that the server answers with its token, after all that was sent before. It is written behind each message,
   * and every minute.
   */
  ping(token: string): string;
  /** The last line that the bot sends. */
  readonly goodbye?: string;
  /**
   * The name that the bot wants, where another may have it, and the line that asks for a name. The first time `begin`
   * writes that line, where the protocol wants it. While another has the name (`link.nameTaken`), the bot has a similar
   * one, `link.name`, and asks for its own every minute, and when `link.renamed` or `link.left` reports that it is
   * free.
   *
   * @example
   * name: { wanted: options.nick, ask: (nick) => `NICK ${nick}` },
   */
  readonly name?: { readonly wanted: string; ask(name: string): string };
  /** Characters of names besides letters, digits, `_` and `-`, such as `[]` on IRC; see `readMention`. */
  readonly nameLetters?: string;
  /**
   * The rooms that the bot stays in, and the line that joins one. They are joined once the bot was let in, at the
   * `pace`, and again whenever `link.outOfRoom` reports that it is not in one; `link.inRoom` reports that it is.
   *
   * @example
   * rooms: { names: options.rooms, join: (room) => `JOIN ${room}` },
   */
  readonly rooms?: { readonly names: readonly string[]; join(room: string): string };
  /** The line that says `text` to `to`. */
  message(text: string, to: string): string;
  /**
   * Where a chat is reached, such as under which name; `undefined` where that is not known (`chat_not_found`).
   * `address` is the latest one of this person, by the event and `link.renamed`. Default: the address, else the chat's
   * id. What is reached must be one word, and a chat must have an id that `identity.pattern` or `identity.groupPattern`
   * allows. A webhook may name any text as the recipient, so declare both where a server reads more into one: where a
   * comma separates recipients, `ada,eve` would reach two.
   *
   * @example
   * reach: (chat, address) => (chat.startsWith("#") ? chat : address),
   */
  reach?(chat: string, address: string | undefined): string | undefined | Promise<string | undefined>;
  /**
   * The line that asks the sender of an event to repeat it, for a server that keeps no messages. Default: none is
   * written.
   */
  askAgain?(event: E): string;
  /** `render` of `ChannelConnection`. Default: plain text, a message for each line, of at most `maxChars` bytes. */
  readonly render?: ChannelConnection["render"];
  /**
   * The pace of the server, for this account: messages that are sent at once, and milliseconds between those after
   * them. A room that is joined counts as a message; what `link.write` writes is not delayed. Each message costs two
   * lines, its own and that of its ping, so halve a limit that counts lines. Default: the account's `paceOptions`, and
   * without them no limit. With it, the connection has `admit`, which `channelContract` wants listed in `functions`.
   */
  readonly pace?: { readonly burst: number; readonly everyMs: number };
  /**
   * The schema of `E`, for a protocol whose events are not a `LineMessage`: only events that fit it reach `parse`. It
   * needs a `parse` of its own.
   */
  readonly event?: TSchema;
  /** `parse` of `ChannelConnection`, with a value that fits `event`. Pure: it also runs in a later process. */
  parse?(event: E): Parsed;
  /** Where the sender of such an event is reached, if not by the id; see `LineMessage.address`. */
  address?(event: E): string | undefined;
}
