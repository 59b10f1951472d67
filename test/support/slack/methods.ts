/** Methods of the Web API, as https://docs.slack.dev/reference/methods describes them: what they take and refuse. */
import { blocksProblem } from "./blocks.ts";
import { adaDirect, bot, type Channel, type Fields, type Message, shownText, team, type World } from "./world.ts";

export interface Call {
  readonly args: Readonly<Record<string, string>>;
  readonly world: World;
  /** What the app hears of what the call has changed. */
  heard(event: Fields): void;
  readonly origin: string;
}

interface Method {
  readonly scopes: readonly string[];
  /** The arguments that the page of the method has; others are a mistake of the caller. */
  readonly takes: readonly string[];
  run(call: Call): Fields;
}

/** `ok: false` with this name. */
export class Refused extends Error {
  readonly more: Fields;
  constructor(name: string, more: Fields = {}) {
    super(name);
    this.more = more;
  }
}

function refuse(name: string, more: Fields = {}): never {
  throw new Refused(name, more);
}

const messageArgs = ["channel", "text", "blocks", "attachments", "thread_ts", "mrkdwn", "parse", "link_names"];
const historyScopes = ["channels:history", "groups:history", "im:history", "mpim:history"];
const readScopes = ["channels:read", "groups:read", "im:read", "mpim:read"];
const mostChars = 40_000;
const mostEditChars = 4_000;

function json(value: string | undefined, wrong: string): unknown {
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return refuse(wrong);
  }
}

function channelOf({ args, world }: Call, { member = true } = {}): Channel {
  const { channel } = args;
  if (channel === undefined || channel === "") refuse("channel_not_found");
  const found = world.channels.get(channel) ?? refuse("channel_not_found");
  if (found.type !== "channel" && !found.members.has(bot.user)) refuse("channel_not_found");
  if (member && !found.members.has(bot.user)) refuse("not_in_channel");
  return found;
}

const messageOf = (channel: Channel, ts: string | undefined) => channel.messages.find((one) => one.ts === ts);

function content({ args }: Call, most: number): Pick<Message, "text" | "blocks"> {
  const blocks = json(args.blocks, "invalid_blocks_format");
  if (blocks !== undefined) {
    const problem = blocksProblem(blocks);
    if (problem !== undefined) refuse("invalid_blocks", { response_metadata: { messages: [problem] } });
  }
  const list = (blocks ?? []) as readonly unknown[];
  const text = args.text ?? "";
  if (text === "" && list.length === 0) refuse("no_text");
  if (text.length > most && most === mostEditChars) refuse("msg_too_long");
  return { text: text.slice(0, most), ...(list.length > 0 && { blocks: list }) };
}

function post(call: Call, more: Partial<Message> = {}): Message {
  const { args, world, heard } = call;
  const channel = channelOf(call);
  if (channel.isArchived) refuse("is_archived");
  const { thread_ts } = args;
  if (thread_ts !== undefined && messageOf(channel, thread_ts) === undefined) refuse("thread_not_found");
  const message: Message = {
    ...{ ts: world.nextTs(), user: bot.user, bot_id: bot.bot, text: "", reactions: new Map() },
    ...(thread_ts !== undefined && { thread_ts }),
    ...more,
  };
  channel.messages.push(message);
  heard({ ...shape(message), ...{ type: "message", channel: channel.id, channel_type: channel.type } });
  return message;
}

/** As events and histories have it. */
export function shape({ reactions, ...message }: Message, replies = 0): Fields {
  const found = [...reactions].map(([name, users]) => ({ name, users: [...users], count: users.size }));
  return {
    type: "message",
    team,
    ...message,
    ...(found.length > 0 && { reactions: found }),
    ...(replies > 0 && { thread_ts: message.ts, reply_count: replies }),
  };
}

/** Only who asks for it gets what apps have added to messages. */
function withMetadata({ metadata, ...message }: Fields, { args }: Call): Fields {
  return args.include_all_metadata === "true" && metadata !== undefined ? { ...message, metadata } : message;
}

/** One page, with the cursor of the next. */
function page<T>(found: readonly T[], { limit = "100", cursor = "" }: Readonly<Record<string, string>>) {
  const from = cursor === "" ? 0 : Number(Buffer.from(cursor, "base64").toString());
  if (!Number.isInteger(from)) refuse("invalid_cursor");
  const size = Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > 1_000) refuse("invalid_limit");
  const isMore = from + size < found.length;
  const next = isMore ? Buffer.from(String(from + size)).toString("base64") : "";
  return {
    items: found.slice(from, from + size),
    more: { has_more: isMore, response_metadata: { next_cursor: next } },
  };
}

function within(
  messages: readonly Message[],
  { oldest = "0", latest = "9", inclusive }: Readonly<Record<string, string>>,
) {
  const isIn = inclusive === "true" || inclusive === "1";
  return messages.filter(({ ts }) =>
    isIn ? ts >= oldest && (latest === "9" || ts <= latest) : ts > oldest && (latest === "9" || ts < latest),
  );
}

const userShape = ({ world }: Call, id: string | undefined): Fields => {
  const { name, displayName, isBot = false } = world.users.get(id ?? "") ?? refuse("user_not_found");
  const profile = { display_name: displayName, real_name: displayName };
  return { id, team_id: team, name, deleted: false, is_bot: isBot, real_name: displayName, profile };
};

function changed(channel: Channel, before: Fields, message: Message, world: World): Fields {
  const at = { channel: channel.id, channel_type: channel.type, hidden: true, ts: world.nextTs() };
  return { type: "message", subtype: "message_changed", ...at, message: shape(message), previous_message: before };
}

function own(call: Call, wrong: string): { readonly channel: Channel; readonly message: Message } {
  const channel = channelOf(call);
  const message = messageOf(channel, call.args.ts) ?? refuse("message_not_found");
  if (message.user !== bot.user) refuse(wrong);
  return { channel, message };
}

function react(call: Call, change: (users: Set<string>) => void): Fields {
  const channel = channelOf(call);
  const { timestamp, name = "" } = call.args;
  const message = messageOf(channel, timestamp) ?? refuse("message_not_found");
  if (!/^[a-z0-9_+'-]{1,100}$/.test(name)) refuse("invalid_name");
  const users = message.reactions.get(name) ?? new Set();
  change(users);
  message.reactions.set(name, users);
  return {};
}

function fileShape({ world, origin, args }: Call): Fields {
  const file = world.files.get(args.file ?? "") ?? refuse("file_not_found");
  const address = `${origin}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
  return {
    ...{ id: file.id, name: file.name, title: file.name, mimetype: file.mimetype, mode: "hosted", shares: file.shares },
    ...{ size: file.bytes?.length ?? file.length, url_private: address, url_private_download: address },
  };
}

export const methods: Readonly<Record<string, Method>> = {
  "api.test": { scopes: [], takes: [], run: () => ({}) },
  "auth.test": {
    scopes: [],
    takes: [],
    run: () => ({
      url: "https://bakery.slack.test/",
      team: "Bakery",
      user: bot.name,
      team_id: team,
      user_id: bot.user,
      bot_id: bot.bot,
      is_enterprise_install: false,
    }),
  },
  "chat.postMessage": {
    scopes: ["chat:write"],
    takes: [...messageArgs, "unfurl_links", "unfurl_media", "reply_broadcast", "metadata"],
    run(call) {
      const metadata = json(call.args.metadata, "invalid_metadata_format") as Fields | undefined;
      const message = post(call, { ...content(call, mostChars), ...(metadata !== undefined && { metadata }) });
      return { channel: call.args.channel, ts: message.ts, message: shape(message) };
    },
  },
  "chat.postEphemeral": {
    scopes: ["chat:write"],
    takes: [...messageArgs, "user"],
    run(call) {
      const channel = channelOf(call);
      const { user = "" } = call.args;
      if (!channel.members.has(user)) refuse("user_not_in_channel");
      const { text, blocks } = content(call, mostChars);
      const ts = call.world.nextTs();
      call.world.ephemerals.push({
        channel: channel.id,
        user,
        ts,
        text: shownText({ text, ...(blocks && { blocks }) }),
      });
      return { message_ts: ts };
    },
  },
  "chat.update": {
    scopes: ["chat:write"],
    takes: [
      "channel",
      "ts",
      "text",
      "blocks",
      "attachments",
      "parse",
      "link_names",
      "metadata",
      "reply_broadcast",
      "file_ids",
    ],
    run(call) {
      const { channel, message } = own(call, "cant_update_message");
      const { args, world, heard } = call;
      const before = shape({ ...message });
      const { text, blocks } = content({ ...call, args: { text: message.text, ...args } }, mostEditChars);
      message.text = text;
      // Blocks stay unless the call names others.
      if (args.blocks !== undefined) message.blocks = blocks ?? [];
      heard(changed(channel, before, message, world));
      return { channel: channel.id, ts: message.ts, text };
    },
  },
  "chat.delete": {
    scopes: ["chat:write"],
    takes: ["channel", "ts"],
    run(call) {
      const { channel, message } = own(call, "cant_delete_message");
      channel.messages.splice(channel.messages.indexOf(message), 1);
      const at = { channel: channel.id, channel_type: channel.type, hidden: true, ts: call.world.nextTs() };
      call.heard({
        type: "message",
        subtype: "message_deleted",
        ...at,
        deleted_ts: message.ts,
        previous_message: shape(message),
      });
      return { channel: channel.id, ts: message.ts };
    },
  },
  "conversations.open": {
    scopes: ["im:write"],
    takes: ["users", "channel", "return_im", "prevent_creation"],
    run({ args, world }) {
      const user = world.users.get(args.users ?? "") ?? refuse("user_not_found");
      if (user.isBot === true) refuse("cannot_dm_bot");
      const id = [...world.channels.values()].find(({ type, members }) => type === "im" && members.has(user.id))?.id;
      if (id !== undefined) return { already_open: true, no_op: true, channel: { id } };
      const opened = adaDirect.replace("ADA", user.id.slice(2, 5));
      const channel = {
        id: opened,
        name: "",
        type: "im",
        members: new Set([bot.user, user.id]),
        isArchived: false,
        messages: [],
      };
      world.channels.set(opened, channel as Channel);
      return { channel: { id: opened } };
    },
  },
  "conversations.info": {
    scopes: readScopes,
    takes: ["channel", "include_num_members", "include_locale"],
    run(call) {
      const { id, name, type, members, isArchived } = channelOf(call, { member: false });
      const is = {
        is_channel: type === "channel",
        is_im: type === "im",
        is_mpim: type === "mpim",
        is_archived: isArchived,
      };
      return { channel: { id, ...(type !== "im" && { name }), ...is, is_member: members.has(bot.user) } };
    },
  },
  "conversations.history": {
    scopes: historyScopes,
    takes: ["channel", "oldest", "latest", "inclusive", "limit", "cursor", "include_all_metadata"],
    run(call) {
      const channel = channelOf(call);
      const replies = (ts: string) => channel.messages.filter(({ thread_ts }) => thread_ts === ts).length;
      const roots = channel.messages.filter(
        ({ thread_ts, subtype }) => thread_ts === undefined || subtype === "thread_broadcast",
      );
      const { items, more } = page(within(roots, call.args).toReversed(), call.args);
      return { messages: items.map((one) => withMetadata(shape(one, replies(one.ts)), call)), ...more };
    },
  },
  "conversations.replies": {
    scopes: historyScopes,
    takes: ["channel", "ts", "oldest", "latest", "inclusive", "limit", "cursor", "include_all_metadata"],
    run(call) {
      const channel = channelOf(call);
      const root = messageOf(channel, call.args.ts) ?? refuse("thread_not_found");
      const answers = within(
        channel.messages.filter(({ thread_ts }) => thread_ts === root.ts),
        call.args,
      );
      const { items, more } = page([root, ...answers], call.args);
      return { messages: items.map((one) => withMetadata({ ...shape(one), thread_ts: root.ts }, call)), ...more };
    },
  },
  "users.conversations": {
    scopes: readScopes,
    takes: ["types", "limit", "cursor", "exclude_archived", "user", "team_id"],
    run({ args, world }) {
      const types = (args.types ?? "public_channel").split(",");
      const names = { channel: "public_channel", group: "private_channel", im: "im", mpim: "mpim" } as const;
      if (types.some((type) => !Object.values<string>(names).includes(type))) refuse("invalid_types");
      const found = [...world.channels.values()].filter(
        ({ type, members, isArchived }) =>
          members.has(bot.user) && types.includes(names[type]) && !(isArchived && args.exclude_archived === "true"),
      );
      const { items, more } = page(found, args);
      return {
        channels: items.map(({ id, name, type }) => ({ id, ...(type === "im" ? { is_im: true } : { name }) })),
        ...more,
      };
    },
  },
  "users.info": {
    scopes: ["users:read"],
    takes: ["user", "include_locale"],
    run: (call) => ({ user: userShape(call, call.args.user) }),
  },
  "users.list": {
    scopes: ["users:read"],
    takes: ["limit", "cursor", "include_locale", "team_id"],
    run(call) {
      const { items, more } = page([...call.world.users.keys()], call.args);
      return { members: items.map((id) => userShape(call, id)), ...more };
    },
  },
  "users.lookupByEmail": {
    scopes: ["users:read.email"],
    takes: ["email"],
    run(call) {
      const found =
        [...call.world.users.values()].find(({ email }) => email === call.args.email) ?? refuse("users_not_found");
      return { user: userShape(call, found.id) };
    },
  },
  "bots.info": {
    scopes: ["users:read"],
    takes: ["bot", "team_id"],
    run: ({ args }) =>
      args.bot?.startsWith("B") === true ? { bot: { id: args.bot, name: "Robot" } } : refuse("bot_not_found"),
  },
  "reactions.add": {
    scopes: ["reactions:write"],
    takes: ["channel", "timestamp", "name"],
    run: (call) => react(call, (users) => void (users.has(bot.user) ? refuse("already_reacted") : users.add(bot.user))),
  },
  "reactions.remove": {
    scopes: ["reactions:write"],
    takes: ["channel", "timestamp", "name", "file", "file_comment"],
    run: (call) => react(call, (users) => void (users.delete(bot.user) || refuse("no_reaction"))),
  },
  "files.getUploadURLExternal": {
    scopes: ["files:write"],
    takes: ["filename", "length", "alt_txt", "snippet_type"],
    run({ args, world, origin }) {
      const length = Number(args.length);
      if (args.filename === undefined || args.filename === "" || !Number.isInteger(length) || length < 1)
        refuse("invalid_arguments");
      const [id, ticket] = [world.nextId("F"), world.nextId("X")];
      const file = {
        id,
        ticket,
        name: args.filename ?? "",
        length,
        mimetype: "application/octet-stream",
        isShared: false,
        shares: {},
      };
      world.files.set(id, file);
      return { upload_url: `${origin}/upload/v1/${ticket}`, file_id: id };
    },
  },
  "files.completeUploadExternal": {
    scopes: ["files:write"],
    takes: ["files", "channel_id", "channels", "initial_comment", "thread_ts", "blocks"],
    run(call) {
      const { args, world } = call;
      const named = json(args.files, "invalid_arguments") as readonly { id: string; title?: string }[] | undefined;
      if (!Array.isArray(named) || named.length === 0) refuse("invalid_arguments");
      const files = (named as readonly { id: string }[]).map(
        ({ id }) => world.files.get(id) ?? refuse("file_not_found"),
      );
      if (files.some(({ bytes, isShared }) => bytes === undefined || isShared)) refuse("file_not_found");
      const shapes = files.map(({ id }) => fileShape({ ...call, args: { file: id } }));
      const to = args.channel_id ?? refuse("invalid_arguments");
      const at = { channel: to, ...(args.thread_ts !== undefined && { thread_ts: args.thread_ts }) };
      const { ts } = post(
        { ...call, args: at },
        { text: args.initial_comment ?? "", subtype: "file_share", files: shapes },
      );
      for (const file of files) {
        file.isShared = true;
        file.shares = { public: { [to]: [{ ts }] } };
      }
      return { files: files.map(({ id, name }) => ({ id, title: name })) };
    },
  },
  "files.info": {
    scopes: ["files:read"],
    takes: ["file", "count", "cursor", "limit", "page"],
    run: (call) => ({ file: fileShape(call) }),
  },
  "files.delete": {
    scopes: ["files:write"],
    takes: ["file"],
    run: ({ args, world }) => (world.files.delete(args.file ?? "") ? {} : refuse("file_not_found")),
  },
};
