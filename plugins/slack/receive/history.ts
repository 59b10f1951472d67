/** The history that Slack has of a channel and its threads, for what was written while the gateway was away. */
import { type ChannelAccount, ChannelError, pause } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { type Fields, isTimestamp, record, records, text } from "../fields.ts";

type Args = Readonly<Record<string, string | number>>;

const mostPages = 10;

export interface History {
  /** The ids of the channels that the bot is in. */
  channels(signal: AbortSignal): Promise<readonly string[]>;
  /** What was written after `oldest`, oldest first, also in these threads and in those of the messages. */
  messages(
    at: { channel: string; oldest: string; threads: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Fields[]>;
}

export function createHistory(api: SlackApi, { room }: Pick<ChannelAccount, "room">): History {
  /** Waits as long as Slack asks: this is the least urgent of all calls. */
  async function call(method: string, args: Args, signal: AbortSignal): Promise<Fields> {
    for (;;) {
      try {
        return await api.call(method, args, { signal });
      } catch (error) {
        if (!(error instanceof ChannelError && error.reason === "flood_wait") || signal.aborted) throw error;
        await pause(error.retryAfterMs ?? 1_000, signal);
      }
    }
  }

  async function pages(method: string, key: string, args: Args, signal: AbortSignal): Promise<readonly Fields[]> {
    const found: Fields[] = [];
    let cursor = "";
    for (let page = 0; page < mostPages; page += 1) {
      await room();
      const answer = await call(method, { limit: 200, ...args, ...(cursor !== "" && { cursor }) }, signal);
      found.push(...records(answer[key]));
      cursor = text(record(answer.response_metadata)?.next_cursor) ?? "";
      if (cursor === "") break;
    }
    return found;
  }

  return {
    async channels(signal) {
      const types = "public_channel,private_channel,mpim,im";
      const joined = await pages("users.conversations", "channels", { types, exclude_archived: "true" }, signal);
      return joined.flatMap(({ id }) => text(id) ?? []);
    },
    async messages({ channel, oldest, threads }, signal) {
      const roots = await pages("conversations.history", "messages", { channel, oldest }, signal);
      const begun = roots.filter(({ reply_count }) => Number(reply_count) > 0).map(({ ts }) => String(ts));
      const all = [...roots];
      for (const ts of new Set([...threads, ...begun]))
        all.push(...(await pages("conversations.replies", "messages", { channel, ts, oldest }, signal)));
      const byTime = new Map(
        all.filter(({ ts }) => isTimestamp(ts) && ts > oldest).map((one) => [String(one.ts), one]),
      );
      return [...byTime].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, message]) => message);
    },
  };
}
