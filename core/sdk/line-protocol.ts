/** What the author of a channel of lines writes, `LineProtocol`, and what it reports to, `LineLink`. */
import type { Static, TSchema } from "typebox";
import type { ChannelError } from "../contract/index.ts";
import type { LineConnection } from "./connect-lines.ts";
import type { ChannelAccount, ChannelConnection, Parsed } from "./contract.ts";
import type { LiveConnection } from "./keep-connected.ts";

/**
 * One connection to the server. The protocol reports to it what the server's lines mean. `S` is the schema of the protocol's `event`.
 *
 * @example
 * if (line === "WELCOME") link.welcome({ id: "bot", username: "bot" });
 */
export interface LineLink<S extends TSchema = TSchema> extends Pick<LineConnection, "write" | "fail" | "lost"> {
  /** The name that the bot has, or that it asked for last. Empty if the protocol has no `name`. */
  readonly name: string;
  /**
   * The server lets the bot in: the account is connected, its rooms are joined, and messages are sent. `identity` is who the bot is; by default
   * `name` is its id and its name, and without a `name` the identity of the last call stays. `detail` is what the operator should know all the same,
   * as a sentence, and `code` the code of it, whose hint the operator reads behind it. Call it again when this changes: a call without a detail
   * clears it. Calls after the connection is lost have no effect.
   */
  welcome(identity?: LiveConnection["identity"], detail?: string, code?: string): void;
  /** The server does not let the bot in. A `ChannelError` that is not retryable is final, as in `keepConnected`; any other error is tried again. */
  refuse(error: Error): void;
  /** The server has answered a ping, so it has handled what was sent before. Unknown tokens are ignored. */
  confirm(token: string): void;
  /**
   * The server does not take what was sent to `to`, in the spelling of `reach` or in another one that `fold` makes the same. The oldest send to it
   * that waits throws the error, so its reason, its `retryable` and its hint decide what happens to the message. Returns whether such a send waits;
   * if none does, the refusal is about something else, such as a room that was joined (`outOfRoom`).
   */
  reject(to: string, error: ChannelError): boolean;
  /** The bot is in this room now. Rooms that `rooms` does not name are ignored, here and in `outOfRoom`. */
  inRoom(room: string): void;
  /**
   * The bot is not in this room, because it was removed or not let in. The operator reads the error in the account's state, its `reason` as the
   * code, until the bot is in the room. After a removal the bot joins again after 1 s, then after longer waits up to 60 s; a room that does not let
   * it in is asked again every minute. Returns whether `rooms` names the room.
   */
  outOfRoom(room: string, error: ChannelError): boolean;
  /** Another has the name that the bot asked for. The bot asks for a similar one, and later for its own again; the operator reads so. */
  nameTaken(): void;
  /**
   * Someone has another name now: the bot itself, whose name is what the server says, or a person, who is reached under it from now on. If that frees
   * the name that the bot wants, the bot asks for it.
   */
  renamed(from: string, to: string): void;
  /** Someone has left. If they had the name that the bot wants, the bot asks for it. */
  left(name: string): void;
  /**
   * Submits what a person wrote, for `parse`, as `ChannelAccount.receive` does. A function is for an event that takes a question to the server, such
   * as one about the sender: it is called when the events before it are complete, and has 30 s. Events are stored in the order of the calls. If one
   * cannot be stored, the log says so, and the line of `askAgain` is written.
   *
   * @example
   * link.receive(async () => ({ from, text, account: await accountOf(from) }));
   */
  receive(event: Static<S> | (() => Promise<Static<S>>), at?: Parameters<ChannelAccount["receive"]>[1]): void;
}

/**
 * A protocol of lines: how the bot signs in, what a line means, and how a message is written. `render` is that of `ChannelConnection`; `textParts`
 * makes the parts of a text, whose bodies are handed to `message`.
 *
 * @example
 * const said = Type.Object({ from: Type.String(), text: Type.String() });
 *
 * const protocol: LineProtocol<typeof said> = {
 *   ping: (token) => `PING ${token}`,
 *   begin(link) {
 *     link.write("HELLO bot");
 *     return {
 *       onLine(line) {
 *         const [, word, first = "", rest = ""] = /^(\S+) ?(\S*) ?(.*)$/.exec(line) ?? [];
 *         if (word === "WELCOME") link.welcome();
 *         if (word === "PONG") link.confirm(first);
 *         if (word === "MESSAGE") link.receive({ from: first, text: rest });
 *       },
 *     };
 *   },
 *   message: (text, to) => `SAY ${to} ${text}`,
 *   event: said,
 *   parse: ({ from, text }) => ({ chat: { id: from, kind: "direct" }, sender: { id: from }, text }),
 *   render: (reply) => textParts(reply, { limit: 400, eachLine: true }),
 * };
 */
export interface LineProtocol<S extends TSchema = TSchema> extends Pick<ChannelConnection, "render"> {
  /** The schema of what `link.receive` stores: what a line says, and what was known when it came. Only events that fit it reach `parse`. */
  readonly event: S;
  /** `parse` of `ChannelConnection`, with a value that fits `event`. Pure: it also runs in a later process. */
  parse(event: Static<S>): Parsed;
  /** Opens a connection. It must not call `onLine` before it returns. Default: `connectLines` with the account's `serverOptions`. */
  connect?(onLine: (line: string) => void): LineConnection;
  /** A line that the server answers with its token, after all that was sent before. */
  ping(token: string): string;
  /** The last line that the bot sends. */
  readonly goodbye?: string;
  /**
   * Begins a connection: writes the first lines and returns what handles those of the server. `tend`, where there is one, is called once the bot was let in and
   * then every minute, for what has to be asked for again. What one of them throws costs the connection, not the gateway.
   */
  begin(link: LineLink<S>): { onLine(line: string): void; tend?(): void };
  /**
   * The name that the bot wants, where another may have it, and the line that asks for a name. `begin` asks for it first. While another has it
   * (`link.nameTaken`), the bot has a similar one, `link.name`, and asks for its own every minute, and when `link.renamed` or `link.left` reports that
   * it is free.
   *
   * @example
   * name: { wanted: options.nick, ask: (nick) => `NICK ${nick}` },
   */
  readonly name?: { readonly wanted: string; ask(name: string): string };
  /**
   * The rooms that the bot stays in, and the line that joins one. They are joined once the bot was let in, at the `pace`, and again whenever `link.outOfRoom`
   * reports that it is not in one; `link.inRoom` reports that it is.
   *
   * @example
   * rooms: { names: options.rooms, join: (room) => `JOIN ${room}` },
   */
  readonly rooms?: { readonly names: readonly string[]; join(room: string): string };
  /** The line that says `text` to `to`. */
  message(text: string, to: string): string;
  /**
   * Where the sender of an event is reached, if that is not their id; `undefined`: by the id. It is remembered for 30 days, also after a restart, and
   * handed to `reach`.
   */
  address?(event: Static<S>): string | undefined;
  /** The line that asks the sender of an event to repeat it, for a server that keeps no messages. Default: none is written. */
  askAgain?(event: Static<S>): string;
  /**
   * Where a chat is reached, such as under which name. `address` is the latest one of this person, by `address` and `link.renamed`. Throws a
   * `ChannelError`, such as `chat_not_found`. Default: by the address, else by the chat's id, if it is one word. A webhook may name any text as the
   * recipient, so what the protocol writes in front of it or behind it must not be part of one: where a comma separates recipients, `ada,eve` would
   * reach two.
   *
   * @example
   * reach(chat, address = chat) {
   *   if (/^#?[\w-]+$/.test(address)) return address;
   *   throw new ChannelError("chat_not_found", { detail: "A recipient is a name or a room" });
   * },
   */
  reach?(chat: string, address: string | undefined): string | Promise<string>;
  /** The one form of a name, where servers write it in more than one, as with capital letters. The same as `identity.fold`, if there is one. */
  fold?(name: string): string;
  /**
   * The pace of the server, for this account: messages that are sent at once, and milliseconds between those after them. A room that is joined
   * counts as a message; what `link.write` writes is not delayed. Each message costs two lines, its own and that of its ping, so halve a limit
   * that counts lines. Default: no limit. With it, the connection has `admit`, which
   * `channelContract` wants listed in `functions`.
   */
  readonly pace?: { readonly burst: number; readonly everyMs: number };
}
