/** What there is on the platform: people, servers, channels, messages. Ids are snowflakes. */

const discordEpoch = 1_420_070_400_000n;

export interface User {
  readonly id: string;
  username: string;
  global_name: string | null;
  readonly bot?: boolean;
}

export interface Attachment {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly url: string;
  readonly content_type: string;
  readonly bytes: Buffer;
}

export interface Message {
  readonly id: string;
  readonly channel: Channel;
  readonly author: User;
  content: string;
  edited: string | null;
  readonly attachments: readonly Attachment[];
  components: readonly Component[];
  embeds: readonly unknown[];
  readonly flags: number;
  readonly type: number;
  readonly nonce?: string | number;
  readonly reference?: { readonly message: string; readonly channel: string };
  /** Ids of people by the emoji. */
  readonly reactions: Map<string, Set<string>>;
  /** Only this person sees it. */
  readonly onlyFor?: string;
}

export interface Component {
  readonly type: 1;
  readonly components: readonly { readonly type: 2; readonly custom_id: string; readonly label: string }[];
}

export interface Channel {
  readonly id: string;
  /** 0 text, 1 direct, 11 thread, 15 forum. */
  readonly type: number;
  readonly name: string;
  readonly guild?: Guild;
  readonly parent?: Channel;
  /** Of a direct chat: the person. */
  readonly person?: User;
  readonly messages: Map<string, Message>;
  readonly overwrites: { id: string; type: 0 | 1; allow: string; deny: string }[];
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly members: Map<string, User>;
  readonly channels: Channel[];
  /** The permissions of everyone. */
  permissions: string;
  /** The role of the bot. */
  readonly botRole: string;
}

export interface World {
  readonly bot: User;
  readonly ada: User;
  readonly bela: User;
  readonly other: User;
  readonly guild: Guild;
  readonly general: Channel;
  readonly forum: Channel;
  readonly thread: Channel;
  /** In a server that the bot is not in. */
  readonly outside: Channel;
  readonly users: Map<string, User>;
  readonly channels: Map<string, Channel>;
  newId(): string;
  direct(person: User): Channel;
}

export const botId = "1100000000000000001";
const ids = { ada: "1100000000000000011", bela: "1100000000000000012", other: "1100000000000000013" };
/** View, send, embed, attach, history, react, send in threads, and more. */
export const usualPermissions = String(0x40_00_0f_ff_ff_fen & ~(1n << 3n));

export function createWorld(now: () => number): World {
  let counter = 0n;
  const newId = () => {
    counter += 1n;
    return String(((BigInt(now()) - discordEpoch) << 22n) | (counter & 0x3f_ff_ffn));
  };
  const user = (id: string, username: string, name: string | null, bot?: true): User => ({
    id,
    username,
    global_name: name,
    ...(bot && { bot }),
  });
  const bot = user(botId, "breadbot", null, true);
  const [ada, bela] = [user(ids.ada, "ada", "Ada"), user(ids.bela, "bela", "Bela")];
  const other = user(ids.other, "otherbot", null, true);
  const channels = new Map<string, Channel>();
  const channel = (id: string, type: number, name: string, more: Partial<Channel> = {}): Channel => {
    const made: Channel = { id, type, name, messages: new Map(), overwrites: [], ...more };
    channels.set(id, made);
    return made;
  };
  const guildOf = (id: string, name: string, members: readonly User[]): Guild => ({
    ...{ id, name, owner: ids.bela, channels: [], permissions: usualPermissions },
    members: new Map(members.map((one) => [one.id, one])),
    botRole: String(BigInt(id) + 7n),
  });
  const guild = guildOf("1100000000000000100", "Town", [bot, ada, bela, other]);
  const elsewhere = guildOf("1100000000000000200", "Elsewhere", [bela]);
  const general = channel("1100000000000000101", 0, "general", { guild });
  const forum = channel("1100000000000000102", 15, "help", { guild });
  const thread = channel("1100000000000000103", 11, "sourdough", { guild, parent: general });
  const outside = channel("1100000000000000201", 0, "hidden", { guild: elsewhere });
  guild.channels.push(general, forum, thread);
  elsewhere.channels.push(outside);
  const world: World = {
    ...{ bot, ada, bela, other, guild, general, forum, thread, outside, channels, newId },
    users: new Map([bot, ada, bela, other].map((one) => [one.id, one])),
    direct(person) {
      const found = [...channels.values()].find((one) => one.person === person);
      return found ?? channel(newId(), 1, "", { person });
    },
  };
  return world;
}

export const userJson = ({ id, username, global_name, bot }: User) => ({
  ...{ id, username, global_name, discriminator: bot ? "0001" : "0", avatar: null, public_flags: 0 },
  ...(bot && { bot }),
});

export const memberJson = () => ({
  ...{ roles: [], joined_at: "2026-01-01T00:00:00.000000+00:00", deaf: false, mute: false, flags: 0, nick: null },
});

export function channelJson(channel: Channel, bot: User) {
  const { id, type, name, guild, parent, person, messages } = channel;
  const last = [...messages.keys()].at(-1) ?? null;
  const common = { id, type, last_message_id: last, flags: 0 };
  if (person !== undefined) return { ...common, recipients: [userJson(person)] };
  const thread = {
    ...{ parent_id: parent?.id ?? null, owner_id: bot.id, message_count: 0, member_count: 1 },
    thread_metadata: {
      archived: false,
      auto_archive_duration: 1440,
      archive_timestamp: "2026-01-01T00:00:00+00:00",
      locked: false,
    },
  };
  return {
    ...{ ...common, name, guild_id: guild?.id, position: 0, nsfw: false },
    ...(type === 11
      ? thread
      : { permission_overwrites: channel.overwrites, parent_id: null, topic: null, rate_limit_per_user: 0 }),
  };
}

export function guildJson(guild: Guild, bot: User) {
  const { id, name, owner, channels, permissions, members, botRole } = guild;
  const role = (roleId: string, roleName: string, of: string, tags?: object) => ({
    ...{
      id: roleId,
      name: roleName,
      permissions: of,
      color: 0,
      hoist: false,
      position: 0,
      managed: false,
      mentionable: false,
      flags: 0,
    },
    ...(tags !== undefined && { tags }),
  });
  return {
    ...{
      id,
      name,
      owner_id: owner,
      icon: null,
      splash: null,
      discovery_splash: null,
      afk_channel_id: null,
      afk_timeout: 300,
    },
    ...{
      verification_level: 0,
      default_message_notifications: 0,
      explicit_content_filter: 0,
      mfa_level: 0,
      nsfw_level: 0,
    },
    ...{
      application_id: null,
      system_channel_id: null,
      system_channel_flags: 0,
      rules_channel_id: null,
      vanity_url_code: null,
    },
    ...{ description: null, banner: null, premium_tier: 0, preferred_locale: "en-US", public_updates_channel_id: null },
    ...{
      premium_progress_bar_enabled: false,
      safety_alerts_channel_id: null,
      joined_at: "2026-01-01T00:00:00+00:00",
      large: false,
    },
    ...{
      unavailable: false,
      member_count: members.size,
      voice_states: [],
      presences: [],
      stage_instances: [],
      soundboard_sounds: [],
    },
    ...{ guild_scheduled_events: [], emojis: [], stickers: [], features: [] },
    roles: [role(id, "@everyone", permissions), role(botRole, bot.username, "0", { bot_id: bot.id })],
    members: [{ ...memberJson(), roles: [botRole], user: userJson(bot) }],
    channels: channels.filter(({ type }) => type !== 11).map((channel) => channelJson(channel, bot)),
    threads: channels.filter(({ type }) => type === 11).map((channel) => channelJson(channel, bot)),
  };
}

export function messageJson(message: Message): Record<string, unknown> {
  const { id, channel, author, content, edited, attachments, components, embeds, flags, type, nonce, reference } =
    message;
  const mentioned = [...content.matchAll(/<@!?(\d+)>/g)].flatMap(([, user]) => {
    const found = channel.guild?.members.get(user ?? "") ?? (channel.person?.id === user ? channel.person : undefined);
    return found === undefined ? [] : [userJson(found)];
  });
  const answered = reference === undefined ? undefined : channel.messages.get(reference.message);
  return {
    ...{
      id,
      channel_id: channel.id,
      author: userJson(author),
      content,
      edited_timestamp: edited,
      components,
      embeds,
      flags,
      type,
    },
    timestamp: new Date(Number((BigInt(id) >> 22n) + discordEpoch)).toISOString(),
    ...{ tts: false, mention_everyone: false, pinned: false, mentions: mentioned },
    mention_roles: [...content.matchAll(/<@&(\d+)>/g)].map(([, role]) => role),
    attachments: attachments.map(({ bytes: _, ...attachment }) => attachment),
    reactions: [...message.reactions].map(([emoji, users]) => ({
      ...{ count: users.size, count_details: { burst: 0, normal: users.size }, burst_colors: [], me_burst: false },
      ...{ me: users.has(botId), emoji: { id: null, name: emoji } },
    })),
    ...(nonce !== undefined && { nonce }),
    ...(reference !== undefined && {
      message_reference: { type: 0, message_id: reference.message, channel_id: reference.channel },
      referenced_message: answered === undefined ? null : { ...messageJson(answered), referenced_message: undefined },
    }),
  };
}
