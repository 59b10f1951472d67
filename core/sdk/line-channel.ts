/** A whole connection of a channel whose platform speaks in lines, made of what only its author can know. */
import { createRequire } from "node:module";
import type { Static, TSchema } from "typebox";
import { ChannelError, type Part } from "../contract/index.ts";
import { createAddressBook } from "./address-book.ts";
import { connectLines } from "./connect-lines.ts";
import type { ChannelAccount, ChannelConnection } from "./contract.ts";
import { createLineIntake } from "./line-intake.ts";
import type { LineProtocol } from "./line-protocol.ts";
import { createLineReports } from "./line-reports.ts";
import { createLineSession } from "./line-session.ts";
import { createTokenBucket } from "./token-bucket.ts";

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
  const bucket = pace && createTokenBucket({ ...pace, now: account.now });
  const session = createLineSession(account, {
    connect: (onLine) => connectLines(serverOf(account.options), onLine),
    ...protocol,
    begin(link) {
      const { currentName, askForMissing, ...reports } = createLineReports(protocol, link, {
        fold,
        now: account.now,
        turn: (signal) => bucket?.take(signal),
        onRenamed: people.rename,
      });
      const conversation = protocol.begin({
        ...link,
        ...reports,
        get name() {
          return currentName();
        },
        reject: (to, error) => link.reject(fold(to), error),
        receive: createLineIntake(account, protocol, { ...link, people }),
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
