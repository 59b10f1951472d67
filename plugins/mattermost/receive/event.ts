/** What is stored of an event until it is handled: the server's own JSON, with what `parse` could not look up. */
import type { Bot, Channel, Root, StoredFile } from "../directory.ts";
import { filesOf } from "../directory.ts";
import { type Fields, id, list, number, record, text } from "../fields.ts";

/** A type alias, so that it is JSON. */
export type StoredEvent = {
  readonly type: "message" | "edit" | "delete" | "reaction" | "press";
  readonly bot: Bot;
  readonly channel: Channel;
  readonly user: string;
  readonly username: string;
  /** Epoch milliseconds of the server. */
  readonly at: number;
  /** The id of the message that was written, edited, deleted, reacted to, or has the button. */
  readonly post: string;
  /** The first post of its thread; empty outside threads. */
  readonly thread: string;
  readonly text: string;
  readonly files: readonly StoredFile[];
  /** The kind of a post that no person wrote, such as `system_join_channel`. */
  readonly kind?: string;
  readonly isBot?: boolean;
  /** Posted by a webhook or a slash command. The user is then the one who set it up. */
  readonly isWebhook?: boolean;
  /** The server says that the bot was mentioned. */
  readonly isMentioned?: boolean;
  readonly root?: Root;
  /** The emoji of a reaction, by its name, and whether the message is the bot's. */
  readonly emoji?: string;
};

/** `mentions`: those of a `posted` event, as JSON. */
export function storedPost(
  post: Fields,
  {
    type,
    ...about
  }: Pick<StoredEvent, "type" | "bot" | "channel" | "username"> & {
    readonly root?: Root | undefined;
    readonly mentions?: readonly unknown[];
  },
): StoredEvent {
  const { bot, channel, username, root, mentions = [] } = about;
  const props = record(post.props);
  const stored: StoredEvent = {
    ...{ type, bot, channel, username },
    user: id(post.user_id),
    at: number(type === "edit" ? post.edit_at : post.create_at),
    post: id(post.id),
    thread: id(post.root_id),
    text: "",
    files: [],
  };
  // A deletion is stored without the words.
  if (type === "delete") return stored;
  return {
    ...stored,
    text: text(post.message) || attachedText(props),
    files: filesOf(post),
    ...(text(post.type) !== "" && { kind: text(post.type) }),
    ...(isTrue(props.from_bot) && { isBot: true }),
    ...(isTrue(props.from_webhook) && { isWebhook: true }),
    ...(mentions.includes(bot.id) && { isMentioned: true }),
    ...(root !== undefined && { root }),
  };
}

const isTrue = (value: unknown): boolean => value === true || value === "true";

/** Other bots often write their text into attachments. */
function attachedText(props: Fields): string {
  const found = list(props.attachments).map(record);
  return found.map(({ text: body, fallback }) => text(body) || text(fallback)).join("\n");
}
