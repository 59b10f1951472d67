/**
 * Where messages belong. The platform names a channel by its id alone: what it is, its server and its parent are
 * learned from events, else looked up, and remembered.
 */
import type { Address, PluginStore } from "service-gateway/sdk";
import { ChannelError, type InboundChat } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { type Fields, id, number, record, records, text } from "./fields.ts";
import { isSnowflake } from "./snowflake.ts";

/** A channel of a server, or a direct chat. */
interface Channel {
  readonly name: string;
  readonly guild?: string;
  /** Of a thread, or of a post in a forum: the channel that it is in. */
  readonly parent?: string;
  /** Of a direct chat: the person. */
  readonly person?: string;
}

export interface Places {
  /** Reads what an event says of servers, channels and threads. */
  learn(type: string, data: Fields): void;
  /** The chat of a channel; `undefined` if the bot does not see it. */
  chatOf(channel: string): Promise<InboundChat | undefined>;
  /** The role that the platform gives to the bot in a server. People mention it where they mean the bot. */
  roleIn(guild: string | undefined): string | undefined;
  /** A person has written in their direct chat. */
  remember(person: string, channel: string): Promise<void>;
  /** The direct chats in which people have written, by their channels. */
  directs(): Promise<readonly { readonly person: string; readonly channel: string }[]>;
  /** The channel that a message for an address is sent to. */
  channelOf(address: Pick<Address, "chat" | "thread">): Promise<string>;
  /** The id for a name, such as `#general`. */
  resolve(target: string): string;
}

const threadTypes: readonly number[] = [10, 11, 12];
const directType = 1;
const mostChannels = 20_000;
const directKey = "direct:";
/** How long a direct chat is looked at for messages that were written while the bot was away. */
const directSeconds = 60 * 86_400;
const refreshMs = 86_400_000;

export function createPlaces({
  api,
  store,
  now,
  botId,
}: {
  readonly api: Api;
  readonly store: PluginStore;
  readonly now: () => number;
  readonly botId: () => string | undefined;
}): Places {
  const channels = new Map<string, Channel>();
  const guilds = new Map<string, { readonly name: string; readonly role: string | undefined }>();
  const directs = createDirects(store, now);

  function put(data: Fields, guild = id(data.guild_id)): void {
    const channel = id(data.id);
    if (channel === undefined) return;
    const isThread = threadTypes.includes(number(data.type) ?? 0);
    const parent = isThread ? id(data.parent_id) : undefined;
    const person = number(data.type) === directType ? id(records(data.recipients)[0]?.id) : undefined;
    channels.delete(channel);
    channels.set(channel, {
      name: text(data.name) ?? "",
      ...(guild !== undefined && { guild }),
      ...(parent !== undefined && { parent }),
      ...(person !== undefined && { person }),
    });
    for (const oldest of channels.keys()) {
      if (channels.size <= mostChannels) break;
      channels.delete(oldest);
    }
  }

  function putGuild(data: Fields): void {
    const guild = id(data.id);
    if (guild === undefined || text(data.name) === undefined) return;
    const role = records(data.roles).find(({ tags }) => id(record(tags)?.bot_id) === botId());
    guilds.set(guild, { name: text(data.name) ?? "", role: id(role?.id) });
    for (const each of [...records(data.channels), ...records(data.threads)]) put(each, guild);
  }

  /** `undefined` if there is no such channel. Rejects if the bot may not see it, or the platform is away. */
  async function fetched(channel: string): Promise<Channel | undefined> {
    try {
      put(record(await api.call("GET", `/channels/${channel}`)) ?? {});
    } catch (error) {
      if (!(error instanceof ChannelError) || error.reason !== "chat_not_found") throw error;
    }
    return channels.get(channel);
  }

  const titleOf = ({ name, guild = "" }: Channel): string => {
    const server = guilds.get(guild)?.name;
    return `#${name}${server === undefined ? "" : ` (${server})`}`;
  };

  return {
    learn(type, data) {
      if (type === "GUILD_CREATE" || type === "GUILD_UPDATE") putGuild(data);
      else if (/^(?:CHANNEL|THREAD)_(?:CREATE|UPDATE)$/.test(type)) put(data);
      else if (type === "THREAD_LIST_SYNC") for (const each of records(data.threads)) put(each, id(data.guild_id));
      else if (type === "CHANNEL_DELETE") channels.delete(id(data.id) ?? "");
    },
    async chatOf(channel) {
      const found = channels.get(channel) ?? (await fetched(channel));
      if (found === undefined) return undefined;
      const { person, parent } = found;
      if (person !== undefined) return { id: person, kind: "direct" };
      if (parent === undefined) return { id: channel, kind: "group", title: titleOf(found) };
      const above = channels.get(parent) ?? (await fetched(parent).catch(() => undefined));
      return { id: parent, kind: "group", title: titleOf(above ?? found), thread: channel };
    },
    roleIn: (guild = "") => guilds.get(guild)?.role,
    async remember(person, channel) {
      channels.set(channel, { name: "", person });
      await directs.remember(person, channel);
    },
    directs: directs.all,
    async channelOf({ chat, thread = chat }) {
      if (!isSnowflake(chat) || !isSnowflake(thread))
        throw new ChannelError("chat_not_found", { detail: `${chat} is not the id of a person or of a channel` });
      if (thread !== chat || channels.has(chat)) return thread;
      const direct = await directs.of(chat);
      if (direct !== undefined) return direct;
      if ((await fetched(chat)) !== undefined) return chat;
      const opened = id(record(await api.call("POST", "/users/@me/channels", { body: { recipient_id: chat } }))?.id);
      if (opened === undefined) throw new ChannelError("chat_not_found");
      await directs.remember(chat, opened);
      return opened;
    },
    resolve: (target) => resolveName(channels, target),
  };
}

/** The direct chats of people. A channel of its own belongs to each, which the platform opens once. */
function createDirects(store: PluginStore, now: () => number) {
  const known = new Map<string, { readonly channel: string; readonly at: number }>();
  return {
    async of(person: string): Promise<string | undefined> {
      return known.get(person)?.channel ?? id(record(await store.get(`${directKey}${person}`))?.channel);
    },
    async remember(person: string, channel: string): Promise<void> {
      const last = known.get(person);
      if (last?.channel === channel && now() - last.at < refreshMs) return;
      await store.set(`${directKey}${person}`, { channel }, { ttlSeconds: directSeconds });
      known.set(person, { channel, at: now() });
    },
    async all() {
      const rows = await store.list({ prefix: directKey });
      return rows.flatMap(({ key, value }) => {
        const channel = id(record(value)?.channel);
        return channel === undefined ? [] : [{ person: key.slice(directKey.length), channel }];
      });
    },
  };
}

function resolveName(channels: ReadonlyMap<string, Channel>, target: string): string {
  const name = target.trim().replace(/^<[#@]!?(\d+)>$/, "$1");
  if (isSnowflake(name)) return name;
  const found = [...channels].filter(([, one]) => one.guild !== undefined && one.name === name.replace(/^#/, ""));
  const [[only] = [], other] = found;
  if (only !== undefined && other === undefined) return only;
  throw new ChannelError("chat_not_found", {
    detail: `${found.length === 0 ? "no channel has" : "several channels have"} the name ${name.slice(0, 100)}`,
    hint: "Switch on Developer Mode in Discord, and copy the id from the menu of the person or of the channel.",
  });
}
