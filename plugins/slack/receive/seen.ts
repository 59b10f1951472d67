/** How far the events are known to be stored, and in which threads the bot takes part. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import { isTimestamp, list, record } from "../fields.ts";

/** Older messages are not answered any more. */
export const backlogHours = 24;
/** An event may be late, or its process was killed before it was stored. A known message is not handled twice. */
const overlapSeconds = 120;
const saveEveryMs = 5_000;
const mostThreads = 50;

export interface Seen {
  /** Where a history has to begin; `undefined` at the first start, which answers nothing older. */
  since(): Promise<string | undefined>;
  /** An event of this time was stored. */
  saw(ts: unknown): void;
  /** A thread in which the bot takes part: the history of a channel does not have its messages. */
  sawThread(channel: string, thread: string): void;
  threadsOf(channel: string): readonly string[];
  /** While a history is read, later events do not say that it is complete. */
  hold(isHeld: boolean): void;
  save(): Promise<void>;
}

export function createSeen({ store, now, log }: Pick<ChannelAccount, "store" | "now" | "log">): Seen {
  const threads = new Map<string, { readonly channel: string; readonly thread: string }>();
  let latest = 0;
  /** The first start. */
  let from = 0;
  let saved = 0;
  let savedAt = Number.NEGATIVE_INFINITY;
  let isHeld = false;

  async function save(): Promise<void> {
    if (isHeld || latest <= saved) return;
    savedAt = now();
    saved = latest;
    await store.set("seen", { from, at: latest, threads: [...threads.keys()] }).catch((error: unknown) => {
      log.debug({ error: String(error) }, "the time of the last event was not stored");
    });
  }

  function sawThread(channel: string, thread: string): void {
    const key = `${channel}:${thread}`;
    threads.delete(key);
    threads.set(key, { channel, thread });
    if (threads.size > mostThreads) threads.delete(threads.keys().next().value as string);
  }

  return {
    save,
    sawThread,
    async since() {
      const seen = record(await store.get("seen"));
      for (const one of list(seen?.threads)) {
        const [channel = "", thread = ""] = String(one).split(":");
        if (isTimestamp(thread)) sawThread(channel, thread);
      }
      const at = typeof seen?.at === "number" ? seen.at : undefined;
      latest = Math.max(latest, at ?? now() / 1_000);
      from = typeof seen?.from === "number" ? seen.from : latest;
      if (at !== undefined) return Math.max(from, at - overlapSeconds, now() / 1_000 - backlogHours * 3_600).toFixed(6);
      await save();
      return undefined;
    },
    saw(ts) {
      if (!isTimestamp(ts)) return;
      latest = Math.max(latest, Number(ts));
      if (now() - savedAt >= saveEveryMs) void save();
    },
    threadsOf: (channel) => [...threads.values()].filter((one) => one.channel === channel).map(({ thread }) => thread),
    hold(held) {
      isHeld = held;
    },
  };
}
