/** What comes in on one connection, stored in the order of its lines. */
import type { Static, TSchema } from "typebox";
import { type Json, reasonOf } from "../contract/index.ts";
import type { AddressBook } from "./address-book.ts";
import type { ChannelAccount } from "./contract.ts";
import type { LineLink, LineProtocol } from "./line-protocol.ts";

/** How long a protocol may take to make an event of a line, in milliseconds. */
const askingMs = 30_000;

/** Makes `receive` of a link. `fail` breaks its connection off. */
export function createLineIntake<S extends TSchema>(
  account: Pick<ChannelAccount, "signal" | "receive" | "log">,
  { parse, address, askAgain }: Pick<LineProtocol<S>, "parse" | "address" | "askAgain">,
  { write, fail, people }: Pick<LineLink, "write" | "fail"> & { readonly people: AddressBook },
): LineLink<S>["receive"] {
  type At = Parameters<LineLink<S>["receive"]>[1];
  let last: Promise<void> = Promise.resolve();

  async function store(event: Static<S>, at: At): Promise<void> {
    const reached = address?.(event);
    if (reached !== undefined) {
      const parsed = parse(event);
      if (parsed && "sender" in parsed) people.keep(parsed.sender.id, reached);
    }
    try {
      await account.receive(event as Json, at);
    } catch (error) {
      if (account.signal.aborted) return;
      account.log.warn({ error: reasonOf(error) }, "a message could not be stored");
      if (askAgain) write(askAgain(event));
    }
  }

  /** The functions are the protocol's, and what one of them throws costs the connection. */
  const broken = (error: unknown) => fail(error instanceof Error ? error : new Error(String(error)));

  async function take(given: Static<S> | (() => Promise<Static<S>>), at: At): Promise<void> {
    const event = (typeof given === "function" ? await inTime(given as () => Promise<Static<S>>) : given) as Static<S>;
    // Not awaited, so that the events of a burst are stored together.
    store(event, at).catch(broken);
  }

  return (given, at) => {
    last = last.then(() => take(given, at)).catch(broken);
  };
}

/** Otherwise one question without an answer would hold up every later message. */
async function inTime<T>(ask: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("It took more than 30 s to learn what belongs to a message")), askingMs);
  try {
    return await Promise.race([ask(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
