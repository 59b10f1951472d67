/**
 * From the server's events to stored ones, in the order in which they came: each waits for the look-ups of those before
 * it. After a connection is made, what was missed comes first.
 */
import type { Json } from "service-gateway/sdk";
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import type { Cursor } from "./cursor.ts";
import { type Channel, type Directory, type Root, shown } from "./directory.ts";
import { type StoredEvent, storedPost } from "./event.ts";
import { type Fields, id, isId, list, number, parseJson, record, text } from "./fields.ts";
import { channelsSince, postsSince } from "./history.ts";

export interface Intake {
  /** A connection begins. `since`: what changed after this time of the server is fetched first. */
  begin(fail: (reason: unknown) => void): Session;
  /** Resolves when everything that came is stored, or was given up. */
  settled(): Promise<void>;
}

export interface Session {
  /** Fetches what changed between two times of the server. */
  catchUp(since: number, until: number): void;
  take(event: Fields): void;
  /** Everything before this time of the server has come. */
  passed(serverTime: number): void;
}

/** A post may become visible a little after a later one. What is fetched twice is recognised. */
const overlapMs = 60_000;
/** The gateway recognises what it has stored for seven days. */
const recognisedMs = 6 * 86_400_000;

interface Found {
  readonly event: StoredEvent;
  /** The id of the event; absent: that of the message. */
  readonly eventId?: string;
}

interface Step {
  readonly type: "message" | "edit" | "delete";
  readonly post: Fields;
  readonly at: number;
}

export function createIntake({
  account,
  api,
  directory,
  cursor,
}: {
  readonly account: Pick<ChannelAccount, "receive" | "room" | "log">;
  readonly api: Api;
  readonly directory: Directory;
  readonly cursor: Cursor;
}): Intake {
  let queue: Promise<unknown> = Promise.resolve();

  const store = ({ event, eventId }: Found) =>
    account.receive(event as unknown as Json, eventId === undefined ? {} : { id: eventId });

  async function usernameOf(user: string): Promise<string> {
    return (await directory.usernames([user])).get(user) ?? "";
  }

  async function rootOf(post: Fields): Promise<Root | undefined> {
    return isId(post.root_id) ? await directory.root(post.root_id) : undefined;
  }

  async function found(type: StoredEvent["type"], post: Fields, channel: Channel, mentions: readonly unknown[] = []) {
    const bot = await directory.me();
    const root = type === "delete" ? undefined : await rootOf(post);
    const username = await usernameOf(id(post.user_id));
    return storedPost(post, { type, bot, channel, username, mentions, root });
  }

  const editOf = (event: StoredEvent): Found => ({ event, eventId: `edit:${event.post}:${event.at}` });
  const deletionOf = (event: StoredEvent): Found => ({ event, eventId: `delete:${event.post}` });

  /** `undefined`: the event is of no concern. */
  async function read(event: Fields): Promise<Found | undefined> {
    const data = record(event.data);
    const post = record(parseJson(text(data.post)));
    const bot = await directory.me();
    switch (event.event) {
      case "posted": {
        if (!isId(post.id) || post.user_id === bot.id) return undefined;
        const channel = directory.learnChannel(
          {
            id: post.channel_id,
            type: data.channel_type,
            name: data.channel_name,
            display_name: data.channel_display_name,
          },
          bot,
        );
        // A webhook names itself as it likes.
        const isPerson = record(post.props).from_webhook === undefined;
        const name = text(data.sender_name).replace(/^@/, "");
        if (isPerson && name !== "") directory.learnUser(id(post.user_id), name);
        return { event: await found("message", post, channel, list(parseJson(text(data.mentions)))) };
      }
      case "post_edited":
      case "post_deleted": {
        const isEdit = event.event === "post_edited";
        if (!isEdit) directory.forget(id(post.id));
        // Pinning a post, or a preview of its link, is reported as an edit, too.
        if (!isId(post.id) || post.user_id === bot.id || (isEdit && number(post.edit_at) === 0)) return undefined;
        const channel = await directory.channel(id(post.channel_id));
        if (channel === undefined) return undefined;
        if (isEdit) return editOf(await found("edit", post, channel));
        return deletionOf(await found("delete", post, channel));
      }
      case "reaction_added":
        return await readReaction(record(parseJson(text(data.reaction))));
      case "user_updated":
        directory.forget(text(record(data.user).id));
        return undefined;
      case "channel_updated":
      case "channel_converted":
        directory.forget(text(record(parseJson(text(data.channel))).id) || text(data.channel_id));
        return undefined;
      default:
        return undefined;
    }
  }

  async function readReaction(reaction: Fields): Promise<Found | undefined> {
    const bot = await directory.me();
    const [user, postId] = [id(reaction.user_id), id(reaction.post_id)];
    if (user === "" || postId === "" || user === bot.id) return undefined;
    const post = record(await shown(api.call("GET", `posts/${postId}`)));
    const channel = await directory.channel(id(post.channel_id));
    if (channel === undefined) return undefined;
    const emoji = text(reaction.emoji_name);
    const event: StoredEvent = {
      ...{ type: "reaction", bot, channel, user, username: await usernameOf(user), at: number(reaction.create_at) },
      ...{ post: postId, thread: id(post.root_id), text: "", files: [], emoji },
    };
    return { event, eventId: `reaction:${postId}:${user}:${emoji}:${number(reaction.create_at)}` };
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
      const event = await found(type, post, channel);
      if (type !== "message") await store(type === "edit" ? editOf(event) : deletionOf(event));
      else if (!(await store({ event })).duplicate) fresh.add(post.id);
    }
  }

  async function fetchMissed(since: number, until: number, isOver: () => boolean): Promise<void> {
    const from = Math.max(1, since - (until - since < recognisedMs ? overlapMs : 0));
    for (const channel of await channelsSince(from, { api, directory })) {
      if (isOver()) return;
      await fetchChannel(channel, from, isOver);
    }
  }

  function begin(fail: (reason: unknown) => void): Session {
    let isOver = false;
    /** What was submitted is stored. */
    let stored: Promise<unknown> = Promise.resolve();
    function giveUp(reason: unknown): void {
      isOver = true;
      fail(reason);
    }
    function then(work: () => unknown): void {
      queue = queue.then(() => (isOver ? undefined : work())).catch(giveUp);
    }
    return {
      catchUp: (since, until) =>
        then(async () => {
          await fetchMissed(since, until, () => isOver);
          if (!isOver) cursor.advance(until);
        }),
      take: (event) =>
        then(async () => {
          const one = await read(event);
          if (one === undefined) return;
          // The next one need not wait: the gateway stores in the order of the calls.
          const storing = store(one);
          stored = Promise.all([stored, storing]).then(() => cursor.advance(one.event.at));
          stored.catch(giveUp);
        }),
      passed: (serverTime) =>
        then(() => {
          stored.then(() => cursor.advance(serverTime)).catch(() => {});
        }),
    };
  }

  return { begin, settled: async () => void (await queue) };
}
