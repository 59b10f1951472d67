/**
 * Tracks whether a platform answers an account. A send with an unknown outcome is repeated only after a later call of
 * its account has succeeded, so that the repetition does not fall into the same outage. Calls are numbered, because a
 * clock that is set back would reverse their order.
 */
import type { Log } from "../../log/index.ts";
import type { ChannelConnection } from "../../sdk/contract.ts";
import { sleep } from "./retry.ts";

/** Pauses between probes of the platform, so that it is probed after 2, 10 and 60 s and then every minute. */
const firstPausesMs = [2_000, 8_000, 50_000];
const pauseMs = 60_000;
/**
 * A channel that neither reports its calls nor has a `probe` gives no sign of the platform; after this many pauses the
 * repetition is due.
 */
const pausesWithoutProbe = firstPausesMs.length;
/** How long a repetition waits, as for retries of a send that had no effect. */
const longestWaitMs = 24 * 60 * 60_000;

/** How a wait for the platform ended. A removed account delays nothing: the send itself finds out why it fails. */
export type Awaited = "may-send" | "too-late" | "closing";

export interface Contact {
  /** A call of the channel begins; the returned function reports its success. */
  calling(): () => void;
  /** The same for a send, if the channel does not report its calls. */
  sending(): () => void;
  /** A send ended with an unknown outcome. Returns a mark; calls that begin after this are later than the mark. */
  failed(): number;
  /** The mark of the last failure; 0 if this process saw none. */
  lastFailure(): number;
  /**
   * Resolves when a call that began after the mark has succeeded, or the account has been removed. Probes the platform
   * until then.
   */
  answersAfter(mark: number, signal: AbortSignal): Promise<Awaited>;
  /** Number of sends that wait for the platform to answer. */
  waiting(): number;
}

/** The contacts of all accounts. They survive a connection that is replaced at a reload. */
export interface Contacts {
  of(channel: string, account: string): Contact;
}

interface Waiter {
  readonly mark: number;
  resolve(how: Awaited): void;
}

const ignore = () => {};

function createContact(options: {
  readonly connection: () => Pick<ChannelConnection, "probe"> | undefined;
  readonly log: Pick<Log, "info" | "warn">;
}): Contact {
  const waiters = new Set<Waiter>();
  let begun = 0;
  /** The latest successful call. */
  let succeeded = 0;
  let lastFailure = 0;
  let reports = false;
  let probing: AbortController | undefined;

  function begin(): () => void {
    begun += 1;
    const number = begun;
    return () => {
      succeeded = Math.max(succeeded, number);
      if (waiters.size > 0) release((waiter) => waiter.mark < number);
    };
  }

  function release(isFree: (waiter: Waiter) => boolean): void {
    const free = [...waiters].filter(isFree);
    if (free.length === 0) return;
    options.log.info({ sends: free.length }, "sends with an unknown outcome are repeated");
    for (const waiter of free) waiter.resolve("may-send");
  }

  async function ask(): Promise<void> {
    const answered = begin();
    if ((await options.connection()?.probe?.())?.ok === true) answered();
  }

  async function probeUntilAnswered(signal: AbortSignal): Promise<void> {
    for (let pauses = 1; await sleep(firstPausesMs[pauses - 1] ?? pauseMs, signal); pauses += 1) {
      const connection = options.connection();
      const unknowable = connection?.probe === undefined && !reports && pauses >= pausesWithoutProbe;
      if (connection === undefined || unknowable) release(() => true);
      // Not awaited: a platform that does not answer must not delay the next probe.
      else ask().catch(ignore);
    }
  }

  function wait(mark: number, signal: AbortSignal): Promise<Awaited> {
    return new Promise((resolve) => {
      const onAbort = () => waiter.resolve("closing");
      const timer = setTimeout(() => waiter.resolve("too-late"), longestWaitMs);
      const waiter: Waiter = {
        mark,
        resolve(how) {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          waiters.delete(waiter);
          if (waiters.size === 0) probing?.abort();
          resolve(how);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiters.add(waiter);
      if (waiters.size > 1) return;
      options.log.warn(
        { reason: "platform_silent" },
        "the outcome of a send is unknown: it is repeated once when the platform answers",
      );
      probing = new AbortController();
      void probeUntilAnswered(probing.signal);
    });
  }

  return {
    calling() {
      reports = true;
      return begin();
    },
    sending: () => (reports ? ignore : begin()),
    failed() {
      lastFailure = begun;
      return begun;
    },
    lastFailure: () => lastFailure,
    async answersAfter(mark, signal) {
      if (signal.aborted) return "closing";
      if (succeeded > mark || options.connection() === undefined) return "may-send";
      return await wait(mark, signal);
    },
    waiting: () => waiters.size,
  };
}

export function createContacts(options: {
  readonly connection: (channel: string, account: string) => Pick<ChannelConnection, "probe"> | undefined;
  readonly log: Log;
}): Contacts {
  const contacts = new Map<string, Map<string, Contact>>();
  return {
    of(channel, account) {
      const accounts = contacts.get(channel) ?? new Map<string, Contact>();
      contacts.set(channel, accounts);
      const known = accounts.get(account);
      if (known !== undefined) return known;
      const contact = createContact({
        connection: () => options.connection(channel, account),
        log: options.log.child({ channel, account }),
      });
      accounts.set(account, contact);
      return contact;
    },
  };
}
