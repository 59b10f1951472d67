/** A whole channel whose platform speaks in lines, made of what only its author can know. */
import { createRequire } from "node:module";
import type { Static, TObject, TSchema } from "typebox";
import { ChannelError, type Part } from "../../contract/index.ts";
import { createAddressBook } from "../address-book.ts";
import {
  type ChannelAccount,
  type ChannelConnection,
  type ChannelDefinition,
  defineChannel,
  type PluginDefinition,
} from "../contract.ts";
import { textParts } from "../text/text-parts.ts";
import { createTokenBucket } from "../token-bucket.ts";
import { connectLines } from "./connection.ts";
import { createIntake, createUnstored, type Intake } from "./intake.ts";
import { type LineMessage, lineMessage, parseLineMessage } from "./message.ts";
import type { LineLink, LineProtocol, ReadLine } from "./protocol.ts";
import { createServerQuestions } from "./question.ts";
import { createReports } from "./reports.ts";
import { createSession } from "./session.ts";

/**
 * The declaration of a channel of lines: that of `defineChannel`, with `protocol` in the place of `open`.
 *
 * @example
 * const definition: LineChannelDefinition = { ...declared, protocol: ({ options }) => acmeProtocol(options) };
 */
export interface LineChannelDefinition<
  O extends TObject = TObject,
  L extends ReadLine = ReadLine,
  E extends object = LineMessage,
> extends Omit<ChannelDefinition<O>, "open"> {
  /** The protocol of one account. Opens nothing yet. It may throw: that account is `failed`, the others run. */
  protocol(account: ChannelAccount<Static<O>>): LineProtocol<L, E>;
}

/**
 * Declares a channel whose platform speaks in lines, as a plugin of its own. The channel connects, and reconnects after
 * each loss. It reports the account's state, recovers the bot's name and stays in its rooms. It sends a ping after each
 * message, and `send` resolves when the server has answered it. It leaves a server that does not answer a ping for 30
 * s. The error of a failed send says whether the message may have arrived. The message ids of its receipts are its own.
 * It has no `probe`: `channels status` shows the state that it reports.
 *
 * @example
 * export default defineLineChannel({
 *   id: "acme",
 *   version: "1.0.0",
 *   host: "^0.2.0",
 *   options: Type.Object({ ...serverOptions({ port: 7000 }), name: Type.String() }),
 *   capabilities: { maxChars: 400 },
 *   protocol: ({ options }) => acmeProtocol(options),
 * });
 */
export function defineLineChannel<O extends TObject, L extends ReadLine, E extends object = LineMessage>({
  protocol,
  ...definition
}: LineChannelDefinition<O, L, E>): PluginDefinition {
  const { identity, capabilities } = definition;
  const open = (account: ChannelAccount<Static<O>>) => {
    const { maxChars } = typeof capabilities === "function" ? capabilities(account.options) : capabilities;
    return createLineConnection(account, protocol(account), { identity, maxChars });
  };
  return defineChannel({ ...definition, open });
}

type LineAccount = Pick<
  ChannelAccount<object>,
  "options" | "signal" | "status" | "now" | "newId" | "calling" | "receive" | "log" | "store"
>;

/** The connection of one account. `identity` is that of the declaration. */
export function createLineConnection<L extends ReadLine, E extends object>(
  account: LineAccount,
  protocol: LineProtocol<L, E>,
  { identity = {}, maxChars }: { readonly identity?: ChannelDefinition["identity"]; readonly maxChars: number },
): ChannelConnection {
  const { fold = (id: string) => id } = identity;
  const { message, name, pace = paceOf(account.options) } = protocol;
  const { whisper = message } = protocol;
  const { render = (reply) => textParts(reply, { limit: maxChars, unit: "bytes", eachLine: true }) } = protocol;
  const { schema, ...intake } = eventsOf(protocol, fold);
  const people = createAddressBook(account, fold);
  const bucket = pace && createTokenBucket({ ...pace, now: account.now });
  const unstored = createUnstored();
  const session = createSession(account, {
    connect: (onLine) => connectLines({ ...serverOf(account.options), room: unstored.room }, onLine),
    ...protocol,
    begin(link) {
      const turn = (signal: AbortSignal) => bucket?.take(signal);
      const { currentName, askForMissing, roomRefused, ...reports } = createReports(protocol, link, {
        fold,
        now: account.now,
        turn,
        people,
      });
      const base = () =>
        protocol.event === undefined && name !== undefined ? { names: [currentName(), name.wanted] } : {};
      const whole: LineLink<E> = {
        ...link,
        ...reports,
        ...createServerQuestions(link),
        get name() {
          return currentName();
        },
        refuse: (reason, more) => link.refuse(new ChannelError(reason, more)),
        reject(to, reason, more) {
          const error = new ChannelError(reason, more);
          if (!link.reject(fold(to), error)) roomRefused(to, error.message);
        },
        receive: createIntake(account, intake, { ...link, people, unstored, base }),
      };
      return { onLine: handlerOf(protocol, whole), tend: askForMissing };
    },
  });
  return {
    start: session.start,
    close: session.close,
    parse: (raw) => (fits(schema, raw) ? intake.parse(raw) : undefined),
    render,
    async send({ body, onlyFor }, { chat: place }, signal) {
      const chat = onlyFor?.sender ?? place;
      const to = await recipientOf(chat, await people.find(chat), protocol.reach, identity);
      const line = onlyFor === undefined ? message(String(body), to) : whisper(String(body), to);
      await session.send(line, { about: fold(to), signal });
      return { messageId: account.newId() };
    },
    ...(bucket && { admit: (_part: Part, _address: unknown, signal: AbortSignal) => bucket.take(signal) }),
  };
}

/** How the events of a protocol are read: its own, or those of `LineMessage`. */
function eventsOf<E extends object>(
  {
    event,
    parse,
    address,
    askAgain,
    nameLetters: letters = "",
  }: Omit<LineProtocol<ReadLine, E>, "read" | "begin" | "otherwise">,
  fold: (name: string) => string,
): Intake & { readonly schema: TSchema } {
  const again = askAgain && { askAgain: (given: object) => askAgain(given as E) };
  if (event === undefined || parse === undefined) {
    if (event !== undefined || parse !== undefined)
      throw new TypeError("A protocol of lines that has its own event needs its own parse, and the other way round.");
    return {
      schema: lineMessage,
      parse: (given) => parseLineMessage(given as Static<typeof lineMessage>, { letters, fold }),
      address: (given) => (given as LineMessage).address,
      ...again,
    };
  }
  return { schema: event, parse: (given) => parse(given as E), address: (given) => address?.(given as E), ...again };
}

/** TypeBox's checks are loaded when the first event comes, so that a channel without one costs nothing. */
function fits(schema: TSchema, raw: unknown): raw is object {
  const { Value } = createRequire(import.meta.url)("typebox/value") as typeof import("typebox/value");
  return Value.Check(schema, raw);
}

/** Begins the conversation, and returns what handles each of its lines. */
function handlerOf<L extends ReadLine, E extends object>(
  { read, begin, otherwise }: LineProtocol<L, E>,
  link: LineLink<E>,
): (text: string) => void {
  const handlers = begin(link);
  return (text) => {
    const line = read(text);
    // A server may send any word, also one that every object has, such as `constructor`.
    if (Object.hasOwn(handlers, line.command)) handlers[line.command]?.(line);
    else otherwise?.(line, link);
  };
}

/** Where a chat is reached: one word. */
async function recipientOf(
  chat: string,
  known: string | undefined,
  reach: NonNullable<LineProtocol["reach"]> = (id, address = id) => address,
  { pattern, groupPattern }: NonNullable<ChannelDefinition["identity"]>,
): Promise<string> {
  const isWholly = (shape = "[^]*") => new RegExp(`^(?:${shape})$`, "u").test(chat);
  if (isWholly(pattern) || isWholly(groupPattern)) {
    const to = await reach(chat, known);
    if (to === undefined)
      throw new ChannelError("chat_not_found", {
        detail: "It is not known where this person is reached",
        hint: "They have to write to the bot first.",
      });
    if (/^[^\s\p{Cc}]+$/u.test(to)) return to;
  }
  throw new ChannelError("chat_not_found", { detail: "This is the id of neither a person nor a room" });
}

type Server = Parameters<typeof connectLines>[0];

/** The account's `serverOptions`. A channel without them has a `connect` of its own. */
function serverOf(options: object): Server {
  const { server: host, port, tls, caFile } = options as Omit<Server, "host"> & { readonly server: string };
  return { host, port, tls, ...(caFile !== undefined && { caFile }) };
}

/** The account's `paceOptions`. */
function paceOf(options: object): LineProtocol["pace"] {
  const { burst, everyMs } = options as { readonly burst?: unknown; readonly everyMs?: unknown };
  return typeof burst === "number" && typeof everyMs === "number" ? { burst, everyMs } : undefined;
}
