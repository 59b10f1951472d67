/** What a platform has to be asked for, such as the name of a user whose messages carry an id alone. */
import { ChannelError, reasonOf } from "../../contract/index.ts";
import type { ChannelAccount } from "../contract.ts";
import { within } from "../waits.ts";

/**
 * What the platform says about ids, asked once and remembered for a while.
 *
 * @example
 * const complete = async () => ({ senderName: await people.find(event.user) });
 */
export interface Lookup<V> {
  /**
   * What the platform says about an id, or said before, if it does not answer in time. `undefined`: it is not known.
   * Never rejects. Calls for one id at the same time make one request.
   */
  find(id: string): Promise<V | undefined>;
  /** Remembers what an event of the platform says, such as the new name of a user. */
  learn(id: string, value: V): void;
  /** The next `find` asks the platform. */
  forget(id: string): void;
}

/** What `createLookup` asks for, and how long it waits and remembers. */
export interface LookupOptions<V> {
  /**
   * Asks the platform about an id. Resolves with `undefined` if the platform does not know it. A rejection is logged at
   * `debug`, and the id is asked about again after a minute; after a `ChannelError` with `retryAfterMs`, nothing is
   * asked for that long. The signal aborts after 30 s, and when the account closes.
   */
  ask(id: string, signal: AbortSignal): Promise<V | undefined>;
  /**
   * How long `find` waits, in milliseconds. The request goes on, so that a later event has its answer. Default:
   * 1,000.
   */
  readonly waitMs?: number;
  /** How long an answer is used before it is asked for again, in milliseconds. Default: an hour. */
  readonly maxAgeMs?: number;
  /** How many ids are remembered; those that were not looked for the longest are forgotten first. Default: 5,000. */
  readonly maxEntries?: number;
  /** How many requests are in progress at once; further ones wait in their order. Default: 4. */
  readonly maxRequests?: number;
}

const hourMs = 3_600_000;
const requestMs = 30_000;
/** After a failure, each event of the same person would cause a request. */
const failedMs = 60_000;
/** Ids that wait for a request: a crowd that writes for the first time while the platform does not answer. */
const mostWaiting = 1_000;

interface Entry<V> {
  readonly value: V | undefined;
  /** In epoch milliseconds. */
  readonly askAgainAt: number;
}

/** A request that is in progress, or waits for others. */
interface Question {
  readonly answered: Promise<void>;
  readonly since: number;
}

/**
 * Makes a look-up for `receiveInOrder`: the names of users and chats that the platform's events do not carry. The
 * answers are remembered in memory, so a restart asks again. An answer that is too old is used if the platform does not
 * give a newer one in time. A name never authorizes, so a wrong one costs nothing but a wrong word.
 *
 * @example
 * const people = createLookup<string>(account, {
 *   ask: async (id, signal) => (await api.call("users.info", { user: id }, signal)).user.name,
 * });
 */
export function createLookup<V>(
  { signal, now, log }: Pick<ChannelAccount, "signal" | "now" | "log">,
  { ask, waitMs = 1_000, maxAgeMs = hourMs, maxEntries = 5_000, maxRequests = 4 }: LookupOptions<V>,
): Lookup<V> {
  const known = new Map<string, Entry<V>>();
  const asked = new Map<string, Question>();
  const waiting: (() => void)[] = [];
  let running = 0;
  let askNothingUntil = 0;

  function remember(id: string, value: V | undefined, forMs: number): void {
    known.delete(id);
    known.set(id, { value, askAgainAt: now() + forMs });
    if (known.size > maxEntries) known.delete(known.keys().next().value ?? id);
  }

  /** Resolves when a request may begin. */
  async function turn(): Promise<void> {
    if (running < maxRequests) running += 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
  }

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  /** `isLatest`: no event has said more about the id since the request was made. */
  async function request(id: string, isLatest: () => boolean): Promise<void> {
    await turn();
    const ended = new AbortController();
    try {
      // What waited for its turn may have nothing to ask any more.
      if (signal.aborted || now() < askNothingUntil) return;
      const answer = ask(id, AbortSignal.any([signal, ended.signal])).then((value) => ({ value }));
      const found = await within(answer, requestMs, signal);
      if (signal.aborted) return;
      if (found === undefined) throw new Error("it took more than 30 s");
      const { value } = found;
      if (isLatest()) remember(id, value, value === undefined ? failedMs : maxAgeMs);
    } catch (error) {
      if (signal.aborted) return;
      const { retryAfterMs = 0 } = error instanceof ChannelError ? error : {};
      askNothingUntil = Math.max(askNothingUntil, now() + Math.min(retryAfterMs, hourMs));
      if (isLatest()) remember(id, known.get(id)?.value, failedMs);
      log.debug({ id, error: reasonOf(error) }, "the platform could not be asked about an id");
    } finally {
      ended.abort();
      release();
    }
  }

  function question(id: string): Question {
    const before = asked.get(id);
    if (before !== undefined) return before;
    const isLatest = () => asked.get(id) === mine;
    const answered = request(id, isLatest).finally(() => {
      if (isLatest()) asked.delete(id);
    });
    const mine: Question = { answered, since: now() };
    asked.set(id, mine);
    return mine;
  }

  return {
    async find(id) {
      const entry = known.get(id);
      if (entry !== undefined) {
        // The one that was looked for last is forgotten last.
        known.delete(id);
        known.set(id, entry);
        if (now() < entry.askAgainAt) return entry.value;
      }
      if (signal.aborted || now() < askNothingUntil || waiting.length >= mostWaiting) return entry?.value;
      const { answered, since } = question(id);
      // One event waits for an answer that does not come, and not each further one.
      const leftMs = waitMs - Math.max(0, now() - since);
      if (leftMs > 0) await within(answered, leftMs, signal);
      return known.get(id)?.value;
    },
    learn(id, value) {
      asked.delete(id);
      remember(id, value, maxAgeMs);
    },
    forget(id) {
      asked.delete(id);
      known.delete(id);
    },
  };
}
