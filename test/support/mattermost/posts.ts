/** Posts of a Mattermost server: created once for a pending id, edited with a history, deleted, reacted to. */
import type { Events } from "./events.ts";
import {
  type Action,
  AppError,
  type Attachment,
  type Channel,
  type Post,
  runes,
  type User,
  type World,
} from "./world.ts";

const pendingMs = 30_000;

export interface NewPost {
  readonly channel_id?: unknown;
  readonly message?: unknown;
  readonly root_id?: unknown;
  readonly file_ids?: unknown;
  readonly props?: unknown;
  readonly pending_post_id?: unknown;
  readonly type?: unknown;
}

export function createPosts(world: World, events: () => Events) {
  const pending = new Map<string, { readonly post: string; readonly until: number }>();

  /** What clients get: where a button leads is the server's own. */
  function shown(post: Post): object {
    const attachments = post.props.attachments?.map(({ actions, ...rest }) => ({
      ...rest,
      ...(actions && { actions: actions.map(({ integration: _, ...action }) => action) }),
    }));
    const files = post.file_ids.flatMap((id) => {
      const file = world.files.get(id);
      if (file === undefined) return [];
      const { bytes, ...info } = file;
      return [{ ...info, size: bytes.length, extension: file.name.split(".").at(-1) ?? "" }];
    });
    return { ...post, props: { ...post.props, ...(attachments && { attachments }) }, metadata: { files } };
  }

  function mentions(post: Post, channel: Channel): readonly string[] {
    const names = [...post.message.matchAll(/@([a-z0-9._-]*[a-z0-9])/gi)].map(([, name = ""]) => name.toLowerCase());
    const isForAll = names.some((name) => ["all", "channel", "here"].includes(name));
    return [...channel.members].filter(
      (id) =>
        id !== post.user_id &&
        (isForAll || channel.type === "D" || names.includes(world.users.get(id)?.username ?? "")),
    );
  }

  function publish(event: string, post: Post, more: object = {}): void {
    events().publish(event, { post: JSON.stringify(shown(post)), ...more }, { channel: post.channel_id });
  }

  function checkAttachments(props: Record<string, unknown>): void {
    const attachments = props.attachments as readonly Attachment[] | undefined;
    for (const action of attachments?.flatMap(({ actions = [] }) => actions) ?? [])
      if (!isAction(action)) throw new AppError("model.post.is_valid.props.app_error", 400, "invalid action");
  }

  function create(given: NewPost, user: User): Post {
    const channel = world.channelFor(String(given.channel_id), user);
    if (channel.delete_at > 0) throw new AppError("api.post.create_post.can_not_post_to_deleted.error", 400);
    const key = typeof given.pending_post_id === "string" ? given.pending_post_id : "";
    const seen = pending.get(key);
    if (key !== "" && seen !== undefined && seen.until > Date.now()) {
      const post = world.posts.get(seen.post);
      if (post !== undefined) return post;
    }
    const message = typeof given.message === "string" ? given.message : "";
    const root = typeof given.root_id === "string" ? given.root_id : "";
    const files = Array.isArray(given.file_ids) ? given.file_ids.map(String) : [];
    const props = (given.props ?? {}) as Record<string, unknown>;
    const type = typeof given.type === "string" ? given.type : "";
    if (runes(message) > 16_383) throw new AppError("model.post.is_valid.message_length.app_error", 400);
    if (files.length > 10) throw new AppError("model.post.is_valid.file_ids.app_error", 400);
    if (files.some((id) => world.files.get(id)?.user_id !== user.id))
      throw new AppError("api.post.create_post.attach_files.app_error", 400);
    const first = world.posts.get(root);
    if (root !== "" && (first === undefined || first.delete_at > 0 || first.root_id !== ""))
      throw new AppError("api.post.create_post.root_id.app_error", 400);
    if (first !== undefined && first.channel_id !== channel.id)
      throw new AppError("api.post.create_post.channel_root_id.app_error", 400);
    if (message === "" && files.length === 0 && props.attachments === undefined)
      throw new AppError("model.post.is_valid.message_length.app_error", 400, "an empty post");
    checkAttachments(props);
    const at = world.time();
    const post: Post = {
      ...{ id: world.newId(), user_id: user.id, channel_id: channel.id, root_id: root, original_id: "", type },
      ...{ create_at: at, update_at: at, edit_at: 0, delete_at: 0, message, file_ids: files, is_pinned: false },
      props: { ...props, ...(user.is_bot && { from_bot: "true" }) },
    };
    world.posts.set(post.id, post);
    channel.last_post_at = at;
    if (key !== "") pending.set(key, { post: post.id, until: Date.now() + pendingMs });
    publish("posted", post, {
      ...{ channel_type: channel.type, channel_name: channel.name, channel_display_name: channel.display_name },
      ...{ sender_name: `@${user.username}`, team_id: channel.team_id, set_online: true },
      mentions: JSON.stringify(mentions(post, channel)),
    });
    return post;
  }

  function patch(id: string, given: NewPost, user: User): Post {
    const post = world.postFor(id, user);
    if (post.user_id !== user.id) throw new AppError("api.context.permissions.app_error", 403);
    if (typeof given.message === "string") {
      if (runes(given.message) > 16_383) throw new AppError("model.post.is_valid.message_length.app_error", 400);
      const at = world.time();
      const before = { ...post, id: world.newId(), original_id: post.id, delete_at: at, update_at: at };
      if (given.message !== post.message) {
        world.posts.set(before.id, before);
        post.edit_at = at;
      }
      post.message = given.message;
    }
    if (given.props !== undefined) {
      checkAttachments(given.props as Record<string, unknown>);
      post.props = { ...(given.props as Record<string, unknown>) };
    }
    post.update_at = world.time();
    publish("post_edited", post);
    return post;
  }

  function remove(id: string, user: User): void {
    const post = world.postFor(id, user);
    if (post.user_id !== user.id && !user.roles.includes("system_admin"))
      throw new AppError("api.context.permissions.app_error", 403);
    post.delete_at = world.time();
    post.update_at = post.delete_at;
    publish("post_deleted", post);
  }

  function react(
    given: { readonly user_id?: unknown; readonly post_id?: unknown; readonly emoji_name?: unknown },
    user: User,
  ) {
    if (given.user_id !== user.id) throw new AppError("api.reaction.save_reaction.user_id.app_error", 403);
    if (!/^[a-z0-9]{26}$/.test(String(given.post_id)) || !/^[a-z0-9+_-]{1,64}$/.test(String(given.emoji_name)))
      throw new AppError("api.reaction.save_reaction.invalid.app_error", 400);
    const post = world.postFor(String(given.post_id), user);
    const emoji = String(given.emoji_name);
    const reaction = { user_id: user.id, post_id: post.id, emoji_name: emoji, create_at: world.time() };
    world.reactions.push(reaction);
    events().publish("reaction_added", { reaction: JSON.stringify(reaction) }, { channel: post.channel_id });
    return reaction;
  }

  function unreact(id: string, emoji: string, user: User): void {
    const at = world.reactions.findIndex(
      (one) => one.post_id === id && one.emoji_name === emoji && one.user_id === user.id,
    );
    if (at < 0) throw new AppError("app.reaction.delete_all_with_emoji_name.get_reactions.app_error", 404);
    const [reaction] = world.reactions.splice(at, 1);
    const channel = world.posts.get(id)?.channel_id ?? "";
    events().publish("reaction_removed", { reaction: JSON.stringify(reaction) }, { channel });
  }

  /** The posts of a channel, newest first, as the server lists them. */
  function listed(found: readonly Post[]): object {
    const sorted = found.toSorted((one, other) => other.create_at - one.create_at);
    const posts = Object.fromEntries(sorted.map((post) => [post.id, shown(post)]));
    return { order: sorted.map(({ id }) => id), posts, next_post_id: "", prev_post_id: "" };
  }

  function since(channel: string, time: number): object {
    // The server takes any thousand of them.
    return listed(
      [...world.posts.values()].filter((p) => p.channel_id === channel && p.update_at > time).slice(0, 1_000),
    );
  }

  function page(channel: string, number: number, size: number): object {
    const all = [...world.posts.values()].filter((post) => post.channel_id === channel && post.delete_at === 0);
    const sorted = all.toSorted((one, other) => other.create_at - one.create_at);
    return listed(sorted.slice(number * size, (number + 1) * size));
  }

  return { shown, create, patch, remove, react, unreact, since, page };
}

export type Posts = ReturnType<typeof createPosts>;

/** As the maker's server checks the buttons of a post. */
function isAction({ name, type, integration }: Partial<Action>): boolean {
  const url = URL.parse(integration?.url ?? "");
  return Boolean(name) && (type === "button" || type === "select") && /^https?:$/.test(url?.protocol ?? "");
}
