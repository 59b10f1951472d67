/** What comes in on one connection, stored in the order of its lines. */
import type { TSchema } from "typebox";
import { type Json, reasonOf } from "../../contract/index.ts";
import type { AddressBook } from "../address-book.ts";
import type { ChannelAccount, Parsed } from "../contract.ts";
import { within } from "../waits.ts";
import type { LineLink } from "./protocol.ts";

/** The server has to wait while so many messages are not stored yet. */
const mostUnstored = 200;

/** The messages of an account that are being stored. */
export interface Unstored {
  /** Counts a message until it is stored, or could not be. */
  count(storing: Promise<void>): Promise<void>;
  /** A promise while there are too many; it resolves when there are fewer. */
  room(): Promise<void> | undefined;
}

export function createUnstored(): Unstored {
  let count = 0;
  let fewer = Promise.withResolvers<void>();
  return {
    async count(storing) {
      count += 1;
      try {
        await storing;
      } finally {
        count -= 1;
        fewer.resolve();
        fewer = Promise.withResolvers();
      }
    },
    room: () => (count < mostUnstored ? undefined : fewer.promise),
  };
}

/** How long `complete` may take, in milliseconds: everything after it waits. */
const completeMs = 30_000;

/** What the intake knows of a protocol. `event` is any JSON object. */
export interface Intake {
  parse(event: object): Parsed;
  /** Where the sender of an event is reached. */
  address(event: object): string | undefined;
  askAgain?(event: object): string;
}

/** Makes `receive` of a link. `fail` breaks its connection off. `base` is what every event has by default. */
export function createIntake(
  account: Pick<ChannelAccount, "signal" | "receive" | "log">,
  { parse, address, askAgain }: Intake,
  {
    write,
    fail,
    people,
    unstored,
    base,
  }: Pick<LineLink, "write" | "fail"> & {
    readonly people: AddressBook;
    readonly unstored: Pick<Unstored, "count">;
    base(): object;
  },
): LineLink<TSchema>["receive"] {
  let last: Promise<void> = Promise.resolve();

  async function store(event: object, at: Parameters<ChannelAccount["receive"]>[1]): Promise<void> {
    const parsed = parse(event);
    // The bot's own, or without a text: there is nothing to do about it, and nothing to explain.
    if (parsed === null || (parsed && "silent" in parsed && parsed.silent === "own_message")) return;
    const reached = address(event);
    if (reached !== undefined && parsed && "sender" in parsed) people.keep(parsed.sender.id, reached);
    try {
      await unstored.count(account.receive(event as Json, at).then(() => {}));
    } catch (error) {
      if (account.signal.aborted) return;
      account.log.warn({ error: reasonOf(error) }, "a message could not be stored");
      if (askAgain) write(askAgain(event));
    }
  }

  /** The message is worth more than what could not be learned about it. */
  async function more(complete: () => Promise<object>): Promise<object> {
    try {
      // Otherwise one question without an answer would hold up every later message.
      const found = await within(complete(), completeMs, account.signal);
      if (found !== undefined) return found;
      throw new Error("it took more than 30 s");
    } catch (error) {
      account.log.warn({ error: reasonOf(error) }, "a message is stored without what the server had to be asked for");
      return {};
    }
  }

  return (event, { complete, ...at } = {}) => {
    // The bot's names are those of now, whatever a question changes meanwhile.
    const early = { ...base(), ...(event as object) };
    last = last
      .then(async () => {
        const whole = withoutGaps(
          complete === undefined ? early : { ...early, ...(await more(complete as () => Promise<object>)) },
        );
        // Not awaited, so that the events of a burst are stored together. What a function of the protocol throws costs
        // the connection.
        store(whole, at).catch((error: unknown) => fail(error instanceof Error ? error : new Error(String(error))));
      })
      .catch(() => {});
  };
}

/** Members that JSON does not have are left out, so that an optional one may be `undefined`. */
const withoutGaps = (event: object): object =>
  Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined && !Number.isNaN(value)));
