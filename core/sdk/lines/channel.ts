/** A whole channel whose platform speaks in lines, made of what only its author can know. */
import { createRequire } from "node:module";
import type { Static, TObject, TSchema } from "typebox";
import { ChannelError, type Part } from "../../contract/index.ts";
import { createAddressBook } from "../address-book.ts";
import { type ChannelAccount, type ChannelConnection, type ChannelDefinition, defineChannel, type PluginDefinition } from "../contract.ts";
import { textParts } from "../text/text-parts.ts";
import { createTokenBucket } from "../token-bucket.ts";
import { connectLines } from "./connection.ts";
import { createIntake, type Intake } from "./intake.ts";
import { type LineMessage, lineMessage, parseLineMessage } from "./message.ts";
import type { LineProtocol } from "./protocol.ts";
import { createServerQuestions } from "./question.ts";
import { createReports } from "./reports.ts";
import { createSession } from "./session.ts";

/**
 * The declaration of a channel of lines: that of `defineChannel`, with `protocol` in the place of `open`.
 *
 * @example
 * const definition: LineChannelDefinition = { ...declared, protocol: ({ options }) => acmeProtocol(options) };
 */
export interface LineChannelDefinition<O extends TObject = TObject, E extends object = LineMessage>
  extends Omit<ChannelDefinition<O>, "open"> {
  /** The protocol of one account. Opens nothing yet. It may throw: that account is `failed`, the others run. */
  protocol(account: ChannelAccount<Static<O>>): LineProtocol<E>;
}

/**
 * Declares a channel whose platform speaks in lines, as a plugin of its own. The channel connects, and connects again after each loss; reports the
 * account's state; gets the bot's name back and stays in its rooms; sends a ping behind each message, and `send` resolves when the server has answered
 * it; leaves a server that does not answer a ping for 30 s; and says of each send that fails whether it may have happened. The message ids of its
 * receipts are its own. It has no `probe`: `channels status` shows the state that it reports.
 *
 * @example
 * export default defineLineChannel({
 *   id: "acme",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   options: Type.Object({ ...serverOptions({ port: 7000 }), name: Type.String() }),
 *   capabilities: { maxChars: 400 },
 *   protocol: ({ options }) => acmeProtocol(options),
 * });
 */
export function defineLineChannel<O extends TObject, E extends object = LineMessage>({
  protocol,
  ...definition
}: LineChannelDefinition<O, E>): PluginDefinition {
  const { identity, capabilities } = definition;
  const fold = identity?.fold ?? ((name: string) => name);
  const open = (account: ChannelAccount<Static<O>>) =>
    createLineConnection(account, protocol(account), { fold, maxChars: capabilities.maxChars });
  return defineChannel({ ...definition, open });
}

type LineAccount = Pick<
  ChannelAccount<object>,
  "options" | "signal" | "status" | "now" | "newId" | "calling" | "receive" | "log" | "store"
>;

/** The connection of one account. `fold` is the form in which names compare. */
export function createLineConnection<E extends object>(
  account: LineAccount,
  protocol: LineProtocol<E>,
  { fold, maxChars }: { fold(name: string): string; readonly maxChars: number },
): ChannelConnection {
  const { message, name, reach = oneWord, pace = paceOf(account.options) } = protocol;
  const { render = (reply) => textParts(reply, { limit: maxChars, unit: "bytes", eachLine: true }) } = protocol;
  const { schema, ...intake } = eventsOf(protocol, fold);
  const people = createAddressBook(account, fold);
  const bucket = pace && createTokenBucket({ ...pace, now: account.now });
  const session = createSession(account, {
    connect: (onLine) => connectLines(serverOf(account.options), onLine),
    ...protocol,
    begin(link) {
      const turn = (signal: AbortSignal) => bucket?.take(signal);
      const { currentName, askForMissing, ...reports } = createReports(protocol, link, { fold, now: account.now, turn, people });
      const base = () => (protocol.event === undefined && name !== undefined ? { names: [currentName(), name.wanted] } : {});
      const conversation = protocol.begin({
        ...link,
        ...reports,
        ...createServerQuestions(link),
        get name() {
          return currentName();
        },
        refuse: (reason, more) => link.refuse(new ChannelError(reason, more)),
        reject: (to, reason, more) => link.reject(fold(to), new ChannelError(reason, more)),
        receive: createIntake(account, intake, { ...link, people, base }),
      });
      return {
        onLine: (line) => conversation.onLine(line),
        tend() {
          askForMissing();
          conversation.tend?.();
        },
      };
    },
  });
  return {
    start: session.start,
    close: session.close,
    parse: (raw) => (fits(schema, raw) ? intake.parse(raw) : undefined),
    render,
    async send({ body }, { chat }, signal) {
      const to = await reach(chat, await people.find(chat));
      await session.send(message(String(body), to), { about: fold(to), signal });
      return { messageId: account.newId() };
    },
    ...(bucket && { admit: (_part: Part, _address: unknown, signal: AbortSignal) => bucket.take(signal) }),
  };
}

/** How the events of a protocol are read: its own, or those of `LineMessage`. */
function eventsOf<E extends object>(
  { event, parse, address, askAgain, nameLetters: letters = "" }: LineProtocol<E>,
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

/** The account's `paceOptions`. */
function paceOf(options: object): LineProtocol["pace"] {
  const { burst, everyMs } = options as { readonly burst?: unknown; readonly everyMs?: unknown };
  return typeof burst === "number" && typeof everyMs === "number" ? { burst, everyMs } : undefined;
}
