/** A whole connection of a channel whose platform speaks in lines, made of what only its author can know. */
import { createRequire } from "node:module";
import type { Static, TSchema } from "typebox";
import { ChannelError, type Json, type Part, reasonOf } from "../contract/index.ts";
import { createAddressBook } from "./address-book.ts";
import { connectLines, type LineConnection } from "./connect-lines.ts";
import type { ChannelAccount, ChannelConnection, Parsed } from "./contract.ts";
import type { LiveConnection } from "./keep-connected.ts";
import { createLineRooms } from "./line-rooms.ts";
import { createLineSession, type SessionLink } from "./line-session.ts";
import { createTokenBucket } from "./token-bucket.ts";

/**
 * One connection to the server. The protocol reports to it what the server's lines mean. `S` is the schema of the protocol's `event`.
 *
 * @example
 * if (line === "WELCOME") link.welcome({ id: "bot", username: "bot" });
 */
export interface LineLink<S extends TSchema = TSchema> extends Pick<LineConnection, "write" | "fail" | "lost"> {
  /**
   * The server lets the bot in, under this id and name: the account is connected, its rooms are joined, and messages are sent. `detail` is what the
   * operator should know all the same, as a sentence. Call it again when this changes, such as when the bot has its name back: a call without
   * an identity keeps the last one, and a call without a detail clears it. `code` is the code of that detail, whose hint the operator reads behind
   * it. Calls after the connection is lost have no effect.
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
  /**
   * Submits what a person wrote, for `parse`, as `ChannelAccount.receive` does. `address`: where the sender is reached, if that is not their id; it
   * is remembered for 30 days, also after a restart, and handed to `reach`. If the event cannot be stored, the log says so, and the line of
   * `askAgain` is written.
   */
  receive(event: Static<S>, at?: ReceiveAt & { readonly address?: string }): void;
  /** A person is reached under another address now, such as after a change of nick. */
  renamed(from: string, to: string): void;
}

type ReceiveAt = NonNullable<Parameters<ChannelAccount["receive"]>[1]>;

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
   * then every minute, for what has to be asked for again, such as the bot's own name. What one of them throws costs the connection, not the gateway.
   */
  begin(link: LineLink<S>): { onLine(line: string): void; tend?(): void };
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
  /** The line that asks the sender of an event to repeat it, for a server that keeps no messages. Default: none is written. */
  askAgain?(event: Static<S>): string;
  /**
   * Where a chat is reached, such as under which name. `address` is the latest one that `link.receive` was given for this person. Throws a
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

type LineAccount = Pick<
  ChannelAccount<object>,
  "options" | "signal" | "status" | "now" | "newId" | "calling" | "receive" | "log" | "store"
>;

/**
 * Makes the connection of a channel whose platform speaks in lines. It connects, and connects again after each loss; reports the account's
 * state; stays in the rooms of `rooms`; sends a ping behind each message, and `send` resolves when the server has answered it; leaves a server that does not answer a ping for
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
export function createLineChannel<S extends TSchema>(account: LineAccount, protocol: LineProtocol<S>): ChannelConnection {
  const { event: schema, message, parse, render, pace, reach = oneWord, fold = (name) => name } = protocol;
  const people = createAddressBook(account, fold);

  async function receive(link: SessionLink, event: Static<S>, { address, ...at }: ReceiveAt & { readonly address?: string } = {}) {
    if (address !== undefined) {
      const parsed = parse(event);
      if (parsed && "sender" in parsed) people.keep(parsed.sender.id, address);
    }
    try {
      await account.receive(event as Json, at);
    } catch (error) {
      if (account.signal.aborted) return;
      account.log.warn({ error: reasonOf(error) }, "a message could not be stored");
      if (protocol.askAgain) link.write(protocol.askAgain(event));
    }
  }

  const bucket = pace && createTokenBucket({ ...pace, now: account.now });
  const session = createLineSession(account, {
    connect: (onLine) => connectLines(serverOf(account.options), onLine),
    ...protocol,
    begin(link) {
      const rooms = roomsOf(protocol, link, { fold, now: account.now, turn: (signal) => bucket?.take(signal) });
      const conversation = protocol.begin({
        ...link,
        ...rooms.reports,
        reject: (to, error) => link.reject(fold(to), error),
        receive(event, at) {
          // `parse` and `askAgain` are the protocol's, and what one of them throws costs the connection.
          receive(link, event, at).catch((error: unknown) => link.fail(error instanceof Error ? error : new Error(String(error))));
        },
        renamed: people.rename,
      });
      return {
        onLine: (line) => conversation.onLine(line),
        tend() {
          rooms.joinMissing();
          conversation.tend?.();
        },
      };
    },
  });
  return {
    start: session.start,
    close: session.close,
    parse: (raw) => (fits(schema, raw) ? parse(raw) : undefined),
    render,
    async send({ body }, { chat }, signal) {
      const to = await reach(chat, await people.find(chat));
      await session.send(message(String(body), to), { about: fold(to), signal });
      return { messageId: account.newId() };
    },
    ...(bucket && { admit: (_part: Part, _address: unknown, signal: AbortSignal) => bucket.take(signal) }),
  };
}

/** The rooms of one connection, and the reports of the protocol that change what the operator reads of them. */
function roomsOf(
  { rooms: { names, join } = { names: [], join: () => "" } }: Pick<LineProtocol, "rooms">,
  link: SessionLink,
  pacing: Pick<Parameters<typeof createLineRooms>[0], "fold" | "now" | "turn">,
) {
  const rooms = createLineRooms({ ...pacing, names, join: (name) => link.write(join(name)) });
  let welcomed = false;
  let own: { readonly detail?: string | undefined; readonly code?: string | undefined } = {};
  const report = (identity?: LiveConnection["identity"]) => {
    const missing = rooms.missing();
    const detail = [own.detail, missing?.detail].filter((text) => text !== undefined).join(" ");
    if (welcomed) link.welcome(identity, detail || undefined, own.code ?? missing?.code);
  };
  void link.lost.then(rooms.close);
  const reports: Pick<LineLink, "welcome" | "inRoom" | "outOfRoom"> = {
    welcome(identity, detail, code) {
      welcomed = true;
      own = { detail, code };
      report(identity);
    },
    inRoom(room) {
      rooms.inRoom(room);
      report();
    },
    outOfRoom(room, error) {
      const isNamed = rooms.outOfRoom(room, error);
      if (isNamed) report();
      return isNamed;
    },
  };
  return { joinMissing: rooms.joinMissing, reports };
}

/** TypeBox's checks are loaded when the first event comes, so that a channel without one costs nothing. */
function fits<S extends TSchema>(schema: S, raw: unknown): raw is Static<S> {
  const { Value } = createRequire(import.meta.url)("typebox/value") as typeof import("typebox/value");
  return Value.Check(schema, raw);
}

function oneWord(chat: string, address = chat): string {
  if (/^[^\s\p{Cc}]+$/u.test(address)) return address;
  throw new ChannelError("chat_not_found", { detail: "A recipient is one word", hint: "Use the name of a person or of a room." });
}

type Server = Parameters<typeof connectLines>[0];

/** The account's `serverOptions`. A channel without them has a `connect` of its own. */
function serverOf(options: object): Server {
  const { server: host, port, tls, caFile } = options as Omit<Server, "host"> & { readonly server: string };
  return { host, port, tls, ...(caFile !== undefined && { caFile }) };
}
