/** Threads that a mention begins, and those that the bot takes part in. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import { type Fields, isTimestamp, text } from "../fields.ts";
import type { Me, Stored } from "./parse.ts";
import type { Seen } from "./seen.ts";
import { mentionsIn } from "./text.ts";

const followedSeconds = 7 * 86_400;

/** Whether a message begins a thread of its own, or is in one that a mention began. */
export async function threadOf(
  { channel, message, me, perMention }: { channel: string; message: Fields; me: Me; perMention: boolean },
  { store, seen }: { readonly store: ChannelAccount["store"]; readonly seen: Seen },
): Promise<Pick<Stored, "begins" | "follows">> {
  const { ts, thread_ts } = message;
  const isDirect = channel.startsWith("D");
  const isMentioned = mentionsIn(text(message.text) ?? "").includes(me.user);
  if (isTimestamp(thread_ts) && thread_ts !== ts) {
    const follows = perMention && !isDirect && (await store.get(`thread:${channel}:${thread_ts}`)) !== null;
    if (follows || isMentioned || isDirect || message.parent_user_id === me.user) seen.sawThread(channel, thread_ts);
    return follows ? { follows } : {};
  }
  if (!perMention || isDirect || !isMentioned || !isTimestamp(ts)) return {};
  await store.set(`thread:${channel}:${ts}`, true, { ttlSeconds: followedSeconds });
  seen.sawThread(channel, ts);
  return { begins: true };
}
