/** What people wrote while the gateway was away. Slack repeats an event for some minutes; its history lasts. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { Fields } from "../fields.ts";
import type { History } from "./history.ts";
import type { Seen } from "./seen.ts";

export interface Backlog {
  /** Submits what is missing since the last event; after each connection that had a gap before it. */
  catchUp(signal: AbortSignal): Promise<void>;
  /** What has to come before a new event of the channel. */
  before(channel: string): Promise<void> | undefined;
}

export function createBacklog(
  { log }: Pick<ChannelAccount, "log">,
  { history, seen, submit }: { readonly history: History; readonly seen: Seen; submit(message: Fields): Promise<void> },
): Backlog {
  let running:
    | { readonly oldest: string; readonly channels: Map<string, Promise<void>>; readonly signal: AbortSignal }
    | undefined;

  async function submitAll(channel: string, oldest: string, signal: AbortSignal): Promise<void> {
    const threads = seen.threadsOf(channel);
    for (const message of await history.messages({ channel, oldest, threads }, signal))
      await submit({ ...message, type: "message", channel });
  }

  function before(channel: string): Promise<void> | undefined {
    if (running === undefined) return undefined;
    const { channels, oldest, signal } = running;
    const work = channels.get(channel) ?? submitAll(channel, oldest, signal);
    channels.set(channel, work);
    work.catch(() => {});
    return work;
  }

  /** `true` unless it has to be tried again; what no permission allows is not missed for ever. */
  async function isDone(work: Promise<unknown> | undefined, what: object, signal: AbortSignal): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ ...what, reason: String(error) }, "what was written while the bot was away is not known");
      return error instanceof ChannelError && !error.retryable;
    }
  }

  return {
    before,
    async catchUp(signal) {
      const oldest = await seen.since();
      if (oldest === undefined || signal.aborted) return;
      const here = { oldest, channels: new Map<string, Promise<void>>(), signal };
      running = here;
      seen.hold(true);
      let joined: readonly string[] = [];
      const listed = history.channels(signal).then((ids) => {
        joined = ids;
      });
      let isWhole = await isDone(listed, {}, signal);
      for (const channel of joined)
        if (!signal.aborted) isWhole = (await isDone(before(channel), { channel }, signal)) && isWhole;
      if (running !== here) return;
      running = undefined;
      if (!isWhole || signal.aborted) return;
      seen.hold(false);
      await seen.save();
    },
  };
}
