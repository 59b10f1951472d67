/** What Slack has to be asked for: its events name people and channels by ids alone. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import { waitFor } from "../wait.ts";

const maxAgeMs = 3_600_000;
/** After a failure, each event of the same person would cause a call. */
const failedMs = 60_000;
const mostEntries = 5_000;

export interface Lookup<V> {
  /** Never rejects. `undefined`: it is not known, or not in time. */
  find(id: string): Promise<V | undefined>;
}

/** Asks once, and remembers the answer for an hour. An event waits at most `waitMs`: Slack repeats it after 3 s. */
export function createLookup<V>(
  { now, log }: Pick<ChannelAccount, "now" | "log">,
  { ask, waitMs = 1_000 }: { ask(id: string): Promise<V | undefined>; readonly waitMs?: number },
): Lookup<V> {
  const known = new Map<string, { readonly answer: Promise<V | undefined>; until: number }>();

  function answerOf(id: string): Promise<V | undefined> {
    const there = known.get(id);
    if (there !== undefined && there.until > now()) return there.answer;
    const entry: { answer: Promise<V | undefined>; until: number } = { answer: ask(id), until: now() + maxAgeMs };
    entry.answer = entry.answer.catch((error: unknown) => {
      log.debug({ id, reason: (error as { reason?: unknown }).reason }, "Slack was asked about an id, and did not say");
      entry.until = now() + failedMs;
      return undefined;
    });
    known.delete(id);
    known.set(id, entry);
    if (known.size > mostEntries) known.delete(known.keys().next().value as string);
    return entry.answer;
  }

  return {
    find: (id) => waitFor(answerOf(id), waitMs),
  };
}
