/** What was posted, edited and deleted while the bot was away. */
import type { Api } from "../api.ts";
import type { Channel, Directory } from "../directory.ts";
import { type Fields, id, list, number, record, text } from "../fields.ts";

/** The server answers `since` with at most so many posts, and does not say which. */
const mostSince = 1_000;
const perPage = 200;
const dayMs = 86_400_000;

/**
 * The channels in which something may have happened since a time. An edit or a deletion does not change the time of a
 * channel's last post, so those with posts of the day before are looked at as well.
 */
export async function channelsSince(
  since: number,
  { api, directory }: { readonly api: Api; readonly directory: Directory },
): Promise<readonly Channel[]> {
  const me = await directory.me();
  const found = list(await api.call("GET", `users/${me.id}/channels`)).map(record);
  return found
    .filter((channel) => number(channel.last_post_at) > since - dayMs)
    .toSorted((one, other) => number(one.last_post_at) - number(other.last_post_at))
    .map((channel) => directory.learnChannel(channel, me));
}

/** The posts of a channel that changed since a time, the oldest first. */
export async function postsSince(channel: string, since: number, api: Api): Promise<readonly Fields[]> {
  const found = new Map<string, Fields>();
  const add = (answer: unknown): readonly Fields[] => {
    const { posts, order } = record(answer);
    const added = list(order).map((post) => record(record(posts)[text(post)]));
    for (const post of added) if (number(post.update_at) > since) found.set(id(post.id), post);
    return added;
  };
  const first = add(await api.call("GET", `channels/${channel}/posts?since=${since}&skipFetchThreads=true`));
  for (let page = 0, isMore = first.length >= mostSince; isMore; page += 1) {
    const query = `page=${page}&per_page=${perPage}&skipFetchThreads=true`;
    const posts = add(await api.call("GET", `channels/${channel}/posts?${query}`));
    isMore = posts.length >= perPage && posts.some((post) => number(post.create_at) > since);
  }
  found.delete("");
  return [...found.values()].toSorted((one, other) => number(one.create_at) - number(other.create_at));
}
