/** What is to be stored of an event of the server, with what had to be looked up. */
import type { Api } from "../api.ts";
import { type Channel, type Directory, type Root, shown } from "../directory.ts";
import { type Fields, id, isId, list, number, parseJson, record, text } from "../fields.ts";
import { type StoredEvent, storedPost } from "./event.ts";

export interface Found {
  readonly event: StoredEvent;
  /** The id of the event; absent: that of the message. */
  readonly eventId?: string;
}

export interface Reader {
  /** `undefined`: the event is of no concern. */
  read(event: Fields): Promise<Found | undefined>;
  readPost(type: "message" | "edit" | "delete", post: Fields, channel: Channel): Promise<Found>;
}

export function createReader({ api, directory }: { readonly api: Api; readonly directory: Directory }): Reader {
  async function usernameOf(user: string): Promise<string> {
    return (await directory.usernames([user])).get(user) ?? "";
  }

  async function rootOf(post: Fields): Promise<Root | undefined> {
    return isId(post.root_id) ? await directory.root(post.root_id) : undefined;
  }

  async function stored(type: StoredEvent["type"], post: Fields, channel: Channel, mentions: readonly unknown[] = []) {
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
        return { event: await stored("message", post, channel, list(parseJson(text(data.mentions)))) };
      }
      case "post_edited":
      case "post_deleted": {
        const isEdit = event.event === "post_edited";
        if (!isEdit) directory.forget(id(post.id));
        // Pinning a post, or a preview of its link, is reported as an edit, too.
        if (!isId(post.id) || post.user_id === bot.id || (isEdit && number(post.edit_at) === 0)) return undefined;
        const channel = await directory.channel(id(post.channel_id));
        if (channel === undefined) return undefined;
        if (isEdit) return editOf(await stored("edit", post, channel));
        return deletionOf(await stored("delete", post, channel));
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

  async function readPost(type: "message" | "edit" | "delete", post: Fields, channel: Channel): Promise<Found> {
    const event = await stored(type, post, channel);
    return type === "message" ? { event } : type === "edit" ? editOf(event) : deletionOf(event);
  }

  return { read, readPost };
}
