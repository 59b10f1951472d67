/** Events that lack something, submitted in the platform's order when it has been looked up. */
import { type Accepted, type Json, reasonOf } from "../../contract/index.ts";
import type { ChannelAccount } from "../contract.ts";
import { within } from "../waits.ts";

/**
 * Submits an event as `ChannelAccount.receive` does, after `complete` has resolved with the members that the event
 * lacks.
 *
 * @example
 * const complete = async () => ({ senderName: await people.find(event.user) });
 * await receive(event, { id: event.id, complete });
 */
export type ReceiveInOrder = (
  event: Readonly<Record<string, Json>>,
  at?: NonNullable<Parameters<ChannelAccount["receive"]>[1]> & {
    /** Called at once. What it resolves with replaces members of the event, except where it is `undefined`. */
    readonly complete?: () => Promise<Readonly<Record<string, Json | undefined>>>;
  },
) => Promise<Accepted>;

/**
 * Makes a function that submits events in the order of its calls, although some of them have to be completed by a
 * look-up first, such as `find` of `createLookup`. Look-ups run at the same time, and an event waits for those of
 * earlier ones. If a look-up fails, or takes longer than `waitMs` from the call on, its event is submitted without it:
 * a name is never worth a message. Submit all events of the account by one such function, also those that lack nothing,
 * so that an edit stays behind its message.
 *
 * `waitMs` is 2,000 by default: below the 3 s after which some platforms post an event again.
 *
 * @example
 * const people = createLookup<string>(account, { ask: (id, signal) => api.nameOf(id, signal) });
 * const receive = receiveInOrder(account);
 *
 * socket.on("event", async (event) => {
 *   await receive(event, { complete: async () => ({ senderName: await people.find(event.user) }) });
 *   socket.acknowledge(event);
 * });
 */
export function receiveInOrder(
  account: Pick<ChannelAccount, "signal" | "log" | "receive">,
  { waitMs = 2_000 }: { readonly waitMs?: number } = {},
): ReceiveInOrder {
  const { signal, log } = account;
  let last: Promise<unknown> = Promise.resolve();

  async function more(complete: () => Promise<object>): Promise<object> {
    try {
      const found = await within(complete(), waitMs, signal);
      if (found !== undefined) return found;
      if (!signal.aborted) log.debug({ waitMs }, "an event is submitted without what its look-up did not find in time");
    } catch (error) {
      log.warn({ error: reasonOf(error) }, "an event is submitted without what its look-up should have found");
    }
    return {};
  }

  return (event, { complete, ...at } = {}) => {
    const found = complete === undefined ? undefined : more(complete);
    const whole = Promise.all([found, last]).then(([members = {}]) => {
      const known = Object.entries(members).filter(([, value]) => value !== undefined);
      return { ...event, ...Object.fromEntries(known) } as Json;
    });
    last = whole;
    // Not awaited by the next event, so that the events of a burst are stored together.
    return whole.then((raw) => account.receive(raw, at));
  };
}
