/** What people wrote while the gateway was away. Slack repeats an event for some minutes only, but it has the history. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { SlackApi } from "./api.ts";
import { wait } from "./wait.ts";
import { type Fields, isTimestamp, list, record, records, text } from "./fields.ts";

/** Older messages are not answered any more. */
export const backlogHours = 24;
/** An event may be late, or its process was killed before it was stored. A known message is not handled twice. */
const overlapSeconds = 120;
const mostPages = 10;
const saveEveryMs = 5_000;
const mostThreads = 50;

export interface Backlog {
  /** Fetches what is missing since the last event; after each connection that had a gap before it. */
  catchUp(signal: AbortSignal): Promise<void>;
  /** What has to come before a new event of the channel. */
  before(channel: string): Promise<void> | undefined;
  /** An event of this time was stored. */
  saw(ts: unknown): void;
  /** A thread in which the bot takes part: the history of a channel does not have its messages. */
  sawThread(channel: string, thread: string): void;
  close(): Promise<void>;
}

export function createBacklog(
  { store, now, log, room }: Pick<ChannelAccount, "store" | "now" | "log" | "room">,
  { api, submit }: { readonly api: SlackApi; submit(message: Fields): Promise<void> },
): Backlog {
  const threads = new Map<string, { readonly channel: string; readonly thread: string }>();
  let latest = 0;
  /** The first start: what was written before is nobody's question to this bot. */
  let from = 0;
  let saved = 0;
  let savedAt = Number.NEGATIVE_INFINITY;
  let running:
    | { readonly oldest: string; readonly channels: Map<string, Promise<void>>; readonly signal: AbortSignal }
    | undefined;

  async function save(): Promise<void> {
    if (latest <= saved) return;
    savedAt = now();
    saved = latest;
    const recent = [...threads.values()].map(({ channel, thread }) => `${channel}:${thread}`);
    await store.set("seen", { from, at: latest, threads: recent }).catch((error: unknown) => {
      log.debug({ error: String(error) }, "the time of the last event was not stored");
    });
  }

  /** Where the history begins; `undefined` at the first start, which answers nothing older. */
  async function since(): Promise<string | undefined> {
    const seen = record(await store.get("seen"));
    for (const one of list(seen?.threads)) {
      const [channel = "", thread = ""] = String(one).split(":");
      if (isTimestamp(thread)) threads.set(String(one), { channel, thread });
    }
    const at = typeof seen?.at === "number" ? seen.at : undefined;
    latest = Math.max(latest, at ?? now() / 1_000);
    from = typeof seen?.from === "number" ? seen.from : latest;
    if (at === undefined) {
      await save();
      return undefined;
    }
    return Math.max(from, at - overlapSeconds, now() / 1_000 - backlogHours * 3_600).toFixed(6);
  }

  /** Waits as long as Slack asks: this is the least urgent of all calls. */
  async function call(method: string, args: Record<string, string | number>, signal: AbortSignal): Promise<Fields> {
    for (;;) {
      try {
        return await api.call(method, args, { signal });
      } catch (error) {
        if (!(error instanceof ChannelError && error.reason === "flood_wait") || signal.aborted) throw error;
        await wait(error.retryAfterMs ?? 1_000, signal);
      }
    }
  }

  async function pages(method: string, key: string, args: Record<string, string | number>, signal: AbortSignal) {
    const found: Fields[] = [];
    let cursor = "";
    for (let page = 0; page < mostPages; page += 1) {
      await room();
      const answer = await call(method, { ...args, ...(cursor !== "" && { cursor }) }, signal);
      found.push(...records(answer[key]));
      cursor = text(record(answer.response_metadata)?.next_cursor) ?? "";
      if (cursor === "") break;
    }
    return found;
  }

  async function fetchChannel(channel: string, oldest: string, signal: AbortSignal): Promise<void> {
    const messages = await pages("conversations.history", "messages", { channel, oldest, limit: 200 }, signal);
    const known = [...threads.values()].filter((one) => one.channel === channel).map(({ thread }) => thread);
    const begun = messages.filter(({ reply_count }) => Number(reply_count) > 0).map(({ ts }) => String(ts));
    for (const ts of new Set([...known, ...begun]))
      messages.push(...(await pages("conversations.replies", "messages", { channel, ts, oldest, limit: 200 }, signal)));
    const byTime = new Map(
      messages.filter(({ ts }) => isTimestamp(ts) && ts > oldest).map((one) => [String(one.ts), one]),
    );
    for (const [, message] of [...byTime].sort(([one], [other]) => (one < other ? -1 : 1)))
      await submit({ ...message, type: "message", channel });
  }

  return {
    async catchUp(signal) {
      const oldest = await since();
      if (oldest === undefined || signal.aborted) return;
      const here = { oldest, channels: new Map<string, Promise<void>>(), signal };
      running = here;
      let isWhole = true;
      try {
        const types = "public_channel,private_channel,mpim,im";
        const joined = await pages(
          "users.conversations",
          "channels",
          { types, limit: 200, exclude_archived: "true" },
          signal,
        );
        for (const { id } of joined) {
          if (signal.aborted) break;
          await this.before(String(id))?.catch((error: unknown) => {
            // What no permission allows is not missed for ever; a failure of the network ends the connection, too.
            if (!(error instanceof ChannelError) || error.retryable) isWhole = false;
            log.debug({ channel: String(id), reason: reasonOf(error) }, "the history of a channel could not be read");
          });
        }
      } catch (error) {
        if (!signal.aborted)
          log.warn({ reason: reasonOf(error) }, "what was written while the bot was away is not known");
        if (!(error instanceof ChannelError) || error.retryable) isWhole = false;
      } finally {
        if (running === here) running = undefined;
      }
      if (isWhole && !signal.aborted) await save();
    },
    before(channel) {
      if (running === undefined) return undefined;
      const { channels, oldest, signal } = running;
      const work = channels.get(channel) ?? fetchChannel(channel, oldest, signal);
      channels.set(channel, work);
      work.catch(() => {});
      return work;
    },
    saw(ts) {
      if (!isTimestamp(ts)) return;
      latest = Math.max(latest, Number(ts));
      if (running === undefined && now() - savedAt >= saveEveryMs) void save();
    },
    sawThread(channel, thread) {
      const key = `${channel}:${thread}`;
      threads.delete(key);
      threads.set(key, { channel, thread });
      if (threads.size > mostThreads) threads.delete(threads.keys().next().value as string);
    },
    async close() {
      if (running === undefined) await save();
    },
  };
}

const reasonOf = (error: unknown) => (error instanceof ChannelError ? error.message : String(error));
