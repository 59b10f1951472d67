/** Who is who: the bot, people, channels, the first posts of threads. Each is asked for once. */
import { ChannelError } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { type Fields, id, isId, list, number, record, text } from "./fields.ts";

/** The bot itself. */
export type Bot = { readonly id: string; readonly username: string };

/** A channel of the server. `person`: the other one in a direct channel. */
export type Channel = {
  readonly id: string;
  readonly type: "direct" | "group";
  readonly title: string;
  readonly person?: string;
};

/** The first post of a thread. */
export type Root = {
  readonly user: string;
  readonly username: string;
  readonly text: string;
  readonly files: readonly StoredFile[];
};

/** What is stored of a file of a post. */
export type StoredFile = { readonly id: string; readonly name: string; readonly type: string; readonly size: number };

export interface Directory {
  me(signal?: AbortSignal): Promise<Bot>;
  /** Asks who the bot is, also if that is known: the token may be void, or the name another one. */
  introduce(signal?: AbortSignal): Promise<Bot>;
  /** What an event says of a channel. */
  learnChannel(fields: Fields, me: Bot): Channel;
  learnUser(user: string, username: string): void;
  /** `undefined`: the bot is not in it. */
  channel(channel: string): Promise<Channel | undefined>;
  /** The names of these people; an id without one is unknown. */
  usernames(users: readonly string[]): Promise<ReadonlyMap<string, string>>;
  root(post: string): Promise<Root | undefined>;
  /** A channel that is known. */
  known(channel: string): Channel | undefined;
  /** What is known of it has changed. */
  forget(what: string): void;
  /** The direct channel with a person, if it is known. */
  directWith(person: string): string | undefined;
}

const mostEntries = 5_000;
/** Of a long first post, this much is quoted. */
const quotedChars = 2_000;

function createMemory<T>(): {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
} {
  const entries = new Map<string, T>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > mostEntries) entries.delete(entries.keys().next().value ?? key);
    },
    delete: (key) => void entries.delete(key),
  };
}

export function createDirectory(api: Api): Directory {
  const channels = createMemory<Channel>();
  const users = createMemory<string>();
  const roots = createMemory<Root | null>();
  /** The direct channels, by the person. */
  const directs = createMemory<string>();
  let bot: Bot | undefined;

  async function introduce(signal?: AbortSignal): Promise<Bot> {
    const user = record(await api.call("GET", "users/me", { signal }));
    if (!isId(user.id))
      throw new ChannelError("bad_answer", {
        detail: "GET users/me: the answer has no user. Check url.",
        retryable: true,
      });
    bot = { id: user.id, username: text(user.username) };
    return bot;
  }

  const me = async (signal?: AbortSignal) => bot ?? (await introduce(signal));

  function learn(fields: Fields, { id: own }: Bot): Channel {
    const channel = channelOf(fields, own);
    channels.set(channel.id, channel);
    if (channel.person !== undefined) directs.set(channel.person, channel.id);
    return channel;
  }

  /** `undefined` if the server does not show it to the bot. */
  async function ask(path: string): Promise<Fields | undefined> {
    const found = await shown(api.call("GET", path));
    return found === undefined ? undefined : record(found);
  }

  async function channel(channelId: string): Promise<Channel | undefined> {
    const known = channels.get(channelId);
    if (known !== undefined) return known;
    const fields = await ask(`channels/${channelId}`);
    return fields === undefined ? undefined : learn(fields, await me());
  }

  async function usernames(wanted: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const missing = [...new Set(wanted)].filter((user) => isId(user) && users.get(user) === undefined);
    for (let at = 0; at < missing.length; at += 100) {
      const found = await shown(api.call("POST", "users/ids", { body: missing.slice(at, at + 100) }));
      for (const user of list(found).map(record)) users.set(text(user.id), text(user.username));
    }
    return new Map(wanted.flatMap((user) => (users.get(user) ? [[user, users.get(user) ?? ""] as const] : [])));
  }

  async function root(postId: string): Promise<Root | undefined> {
    const known = roots.get(postId);
    if (known !== undefined) return known ?? undefined;
    const post = await ask(`posts/${postId}`);
    const found =
      post === undefined
        ? null
        : {
            user: id(post.user_id),
            username: (await usernames([id(post.user_id)])).get(id(post.user_id)) ?? "",
            text: text(post.message).slice(0, quotedChars),
            files: filesOf(post),
          };
    roots.set(postId, found);
    return found ?? undefined;
  }

  return {
    me,
    introduce,
    learnChannel: learn,
    known: channels.get,
    learnUser: (user, username) => users.set(user, username),
    channel,
    usernames,
    root,
    forget(what) {
      channels.delete(what);
      users.delete(what);
      roots.delete(what);
    },
    directWith: directs.get,
  };
}

/** `undefined` for an answer that refuses for good. A server that is away, and a token that is wrong, remain errors. */
export async function shown(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ChannelError && !error.retryable && error.reason !== "unauthorized") return undefined;
    throw error;
  }
}

function channelOf(fields: Fields, own: string): Channel {
  const isDirect = fields.type === "D";
  // The name of a direct channel consists of the ids of both; a chat with oneself has the same twice.
  const [first = "", second = ""] = text(fields.name).split("__");
  const person = id(first === own ? second : first);
  return {
    id: id(fields.id),
    type: isDirect ? "direct" : "group",
    title: text(fields.display_name),
    ...(isDirect && { person }),
  };
}

/** The files of a post, also of one whose server reports their ids alone. */
export function filesOf(post: Fields): readonly StoredFile[] {
  const infos = list(record(post.metadata).files).map(record);
  return list(post.file_ids)
    .filter(isId)
    .map((file) => {
      const info = infos.find((each) => each.id === file) ?? {};
      return { id: file, name: text(info.name), type: text(info.mime_type), size: number(info.size) };
    });
}
