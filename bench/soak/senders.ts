/**
 * The outside world: people who write, and programs that call hooks until they are acknowledged. It records everything
 * it did.
 */
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { createPeople, type SentUpdate, sentence } from "./people.ts";
import type { Random } from "./random.ts";

export interface HookCall {
  readonly endpoint: "wake" | "agent";
  /** A text that occurs only in this body. */
  readonly mark: string;
  readonly key?: string;
  /** Event ids of all acknowledgements; all equal, however often it was sent. */
  readonly acknowledged: string[];
  /** The person who is notified; hook runs only. */
  readonly to?: number;
}

export interface Senders {
  readonly updates: readonly SentUpdate[];
  readonly hooks: readonly HookCall[];
  /** A person writes, or a program calls. */
  burst(): void;
  /** A wake that picks up everything that waits for a heartbeat. */
  wakeNow(): Promise<void>;
  /** Number of unacknowledged calls and pending edits or presses. */
  busy(): number;
  /** Resolves when every call is acknowledged or given up, and no edit or press is pending. */
  settled(): Promise<void>;
  onAcknowledged(listener: () => void): void;
  close(): void;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function createSenders(options: {
  readonly platform: Platform;
  readonly persons: readonly number[];
  readonly random: Random;
  readonly url: string;
  readonly token: string;
}): Senders {
  const { platform, persons, random, url, token } = options;
  const hooks: HookCall[] = [];
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  let notify: () => void = () => {};
  let serial = 0;

  const people = createPeople({ platform, random, later: (ms, act) => begin(pause(ms).then(act)) });

  function body(call: HookCall, mode: string): string {
    const text = `${call.mark} ${sentence(random, 2, 8)}`;
    if (call.endpoint === "wake") return JSON.stringify({ text, mode });
    return JSON.stringify({
      message: text,
      name: "Soak",
      channel: "botchat",
      to: String(call.to),
      deliver: true,
      wakeMode: mode,
    });
  }

  /** One attempt; `undefined` if it is unknown whether it arrived. */
  async function post(call: HookCall, content: string): Promise<string | undefined> {
    try {
      const answer = await fetch(`${url}/hooks/${call.endpoint}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          ...(call.key === undefined ? {} : { "idempotency-key": call.key }),
        },
        body: content,
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(5_000)]),
      });
      const answered = (await answer.json()) as { readonly eventId?: string; readonly error?: unknown };
      if (answer.ok && answered.eventId !== undefined) return answered.eventId;
      if (answer.status < 500)
        throw new Error(`${call.endpoint} was refused: ${answer.status} ${JSON.stringify(answered.error)}`);
      return undefined;
    } catch (error) {
      if (error instanceof Error && error.message.includes("was refused")) throw error;
      return undefined;
    }
  }

  async function call(endpoint: HookCall["endpoint"], mode: string, withKey = true): Promise<void> {
    serial += 1;
    const made: HookCall = {
      endpoint,
      mark: `h${serial}`,
      acknowledged: [],
      ...(withKey ? { key: `soak-${serial}` } : {}),
      ...(endpoint === "agent" ? { to: random.pick(persons) } : {}),
    };
    hooks.push(made);
    const content = body(made, mode);
    // A sender with a key repeats until it is acknowledged; some repeat once more, as if the acknowledgement was lost.
    const wanted = withKey && random.chance(0.3) ? 2 : 1;
    while (!stop.signal.aborted) {
      const eventId = await post(made, content);
      if (eventId !== undefined) {
        made.acknowledged.push(eventId);
        notify();
      }
      if (made.acknowledged.length >= wanted || !withKey) return;
      if (eventId === undefined) await pause(25);
    }
  }

  function begin(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work)).catch(() => {});
  }

  // A bot can write only to people who have written to it.
  for (const person of persons) people.write(person);

  return {
    updates: people.updates,
    hooks,
    burst() {
      for (let count = random.whole(1, 3); count > 0; count -= 1) people.write(random.pick(persons));
      for (let count = random.whole(0, 2); count > 0; count -= 1) {
        begin(
          call(random.pick(["wake", "agent"] as const), random.pick(["now", "next-heartbeat"]), random.chance(0.8)),
        );
      }
    },
    wakeNow: () => call("wake", "now"),
    busy: () => running.size,
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
    onAcknowledged(listener) {
      notify = listener;
    },
    close: () => stop.abort(),
  };
}
