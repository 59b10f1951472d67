/** What a Mattermost server knows: people, teams, channels, posts. The rules are those of the maker's server. */
import { createHash, generateKeyPairSync } from "node:crypto";

export interface User {
  readonly id: string;
  username: string;
  readonly is_bot: boolean;
  roles: string;
  readonly token: string;
}

export interface Channel {
  readonly id: string;
  readonly type: "O" | "P" | "D" | "G";
  readonly name: string;
  readonly display_name: string;
  readonly team_id: string;
  readonly members: Set<string>;
  last_post_at: number;
  delete_at: number;
}

export interface Action {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly integration: { readonly url: string; readonly context: Readonly<Record<string, unknown>> };
}

export interface Attachment {
  readonly text?: string;
  readonly actions?: readonly Action[];
}

export interface Post {
  readonly id: string;
  readonly user_id: string;
  readonly channel_id: string;
  readonly root_id: string;
  readonly original_id: string;
  readonly create_at: number;
  readonly type: string;
  update_at: number;
  edit_at: number;
  delete_at: number;
  message: string;
  props: { attachments?: readonly Attachment[] } & Record<string, unknown>;
  file_ids: readonly string[];
  is_pinned: boolean;
}

export interface StoredFile {
  readonly id: string;
  readonly user_id: string;
  readonly channel_id: string;
  readonly name: string;
  readonly mime_type: string;
  readonly bytes: Buffer;
}

export interface Reaction {
  readonly user_id: string;
  readonly post_id: string;
  readonly emoji_name: string;
  readonly create_at: number;
}

/** An error as the server's JSON has it. */
export class AppError extends Error {
  readonly id: string;
  readonly status: number;
  constructor(id: string, status: number, message = id) {
    super(message);
    this.id = id;
    this.status = status;
  }
}

export const runes = (text: string): number => [...text].length;

export function createWorld() {
  let counter = 0;
  let lastTime = 0;
  const newId = (): string => {
    counter += 1;
    const digest = createHash("sha256").update(`id-${counter}`).digest();
    return [...digest]
      .slice(0, 26)
      .map((byte) => "abcdefghijklmnopqrstuvwxyz0123456789"[byte % 36])
      .join("");
  };
  /** The times of two posts of a test differ, so that they have an order. */
  const time = (): number => {
    lastTime = Math.max(Date.now(), lastTime + 1);
    return lastTime;
  };
  const users = new Map<string, User>();
  const channels = new Map<string, Channel>();
  const posts = new Map<string, Post>();
  const files = new Map<string, StoredFile>();
  const reactions: Reaction[] = [];
  const team = { id: newId(), name: "bakery", display_name: "Bakery" };
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const roles = new Map<string, readonly string[]>([
    ["system_user", ["create_direct_channel"]],
    ["system_admin", ["create_direct_channel", "create_post_ephemeral", "manage_system"]],
  ]);
  const config: Record<string, string> = {
    Version: "11.9.0",
    MaxFileSize: String(100 * 1_048_576),
    MaxPostSize: "16383",
    EnableFileAttachments: "true",
    AsymmetricSigningPublicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
  };

  function addUser(username: string, { is_bot = false, roles: given = "system_user" } = {}): User {
    const user = { id: newId(), username, is_bot, roles: given, token: newId() };
    users.set(user.id, user);
    return user;
  }

  function addChannel(name: string, members: readonly User[], type: Channel["type"] = "O"): Channel {
    const channel: Channel = {
      ...{ id: newId(), type, name, display_name: name, team_id: type === "D" ? "" : team.id },
      ...{ members: new Set(members.map(({ id }) => id)), last_post_at: 0, delete_at: 0 },
    };
    channels.set(channel.id, channel);
    return channel;
  }

  function direct(one: User, other: User): Channel {
    const name = [one.id, other.id].toSorted().join("__");
    return [...channels.values()].find((channel) => channel.name === name) ?? addChannel(name, [one, other], "D");
  }

  /** A channel that this person may read. */
  function channelFor(id: string, user: User): Channel {
    const channel = channels.get(id);
    if (channel === undefined) throw new AppError("app.channel.get.existing.app_error", 404);
    if (!channel.members.has(user.id)) throw new AppError("api.context.permissions.app_error", 403);
    return channel;
  }

  function postFor(id: string, user: User): Post {
    const post = posts.get(id);
    if (post === undefined || post.delete_at > 0) throw new AppError("app.post.get.app_error", 404);
    channelFor(post.channel_id, user);
    return post;
  }

  return {
    ...{ newId, time, users, channels, posts, files, reactions, team, privateKey, roles, config },
    ...{ addUser, addChannel, direct, channelFor, postFor },
  };
}

export type World = ReturnType<typeof createWorld>;
