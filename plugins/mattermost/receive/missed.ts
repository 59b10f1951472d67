/** Stores what was posted, edited and deleted while the bot was away: channel by channel, in order. */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import { type Channel, type Directory, shown } from "../directory.ts";
import { type Fields, id, isId, number } from "../fields.ts";
import { channelsSince, postsSince } from "./history.ts";
import type { Found, Reader } from "./reader.ts";

/** A post may become visible a little after a later one. What is fetched twice is recognised. */
const overlapMs = 60_000;
/** The gateway recognises what it has stored for seven days. */
const recognisedMs = 6 * 86_400_000;

interface Step {
  readonly type: "message" | "edit" | "delete";
  readonly post: Fields;
  readonly at: number;
}

/** Resolves when all that changed between two times of the server is stored, or `isOver` says to give up. */
export type FetchMissed = (since: number, until: number, isOver: () => boolean) => Promise<void>;

export function createMissed({
  account,
  api,
  directory,
  reader,
  store,
}: {
  readonly account: Pick<ChannelAccount, "room">;
  readonly api: Api;
  readonly directory: Directory;
  readonly reader: Reader;
  readonly store: (found: Found) => Promise<{ readonly duplicate: boolean }>;
}): FetchMissed {
  async function fetchChannel(channel: Channel, since: number, isOver: () => boolean): Promise<void> {
    const bot = await directory.me();
    // The bot may have been removed from it meanwhile.
    const changed = (await shown(postsSince(channel.id, since, api))) as readonly Fields[] | undefined;
    const posts = (changed ?? []).filter((post) => post.user_id !== bot.id);
    await directory.usernames(posts.map((post) => id(post.user_id)));
    const steps = posts.flatMap((post) => stepsOf(post, since)).toSorted((one, other) => one.at - other.at);
    /** Messages that were not known: their text is the newest one. */
    const fresh = new Set<unknown>();
    for (const [index, { type, post }] of steps.entries()) {
      if (isOver()) return;
      if (index % 24 === 23) for (let room = account.room(); room !== undefined; room = account.room()) await room;
      if (type === "edit" && fresh.has(post.id)) continue;
      const { duplicate } = await store(await reader.readPost(type, post, channel));
      if (type === "message" && !duplicate) fresh.add(post.id);
    }
  }

  return async (since, until, isOver) => {
    const from = Math.max(1, since - (until - since < recognisedMs ? overlapMs : 0));
    for (const channel of await channelsSince(from, { api, directory })) {
      if (isOver()) return;
      await fetchChannel(channel, from, isOver);
    }
  };
}

/** What is to be stored of a fetched post, and when it happened. */
function stepsOf(post: Fields, since: number): readonly Step[] {
  // An edit leaves the older text behind as a deleted post with a reference.
  if (!isId(post.id) || isId(post.original_id)) return [];
  if (number(post.delete_at) > 0) return [{ type: "delete", post, at: number(post.delete_at) }];
  const steps: Step[] = [];
  if (number(post.create_at) > since) steps.push({ type: "message", post, at: number(post.create_at) });
  if (number(post.edit_at) > 0) steps.push({ type: "edit", post, at: number(post.edit_at) });
  return steps;
}
