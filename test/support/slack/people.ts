/** What people of the workspace do in their clients. */
import type { Delivery } from "./delivery.ts";
import { shape } from "./methods.ts";
import { ada, adaDirect, app, bot, type Channel, type Fields, type Message, robot, team, type World } from "./world.ts";

interface Where {
  readonly user?: string;
  readonly channel?: string;
  readonly thread?: string;
}

export interface People {
  /** Text as clients send it: `<@U0BOT0001>` names the bot, and `<`, `>` and `&` of the person are entities. */
  say(
    text: string,
    where?: Where & {
      readonly file?: { readonly name?: string; readonly mimeType?: string; readonly bytes: Uint8Array };
    },
  ): string;
  edit(ts: string, text: string, where?: Where): void;
  delete(ts: string, where?: Where): void;
  react(ts: string, name: string, where?: Where): void;
  press(value: string, where?: Where & { readonly ts?: string }): void;
  command(command: string, text: string, where?: Where): void;
  /** A message of the app of another maker. */
  robot(text: string, where?: Where): string;
}

/** As a client writes what a person typed. */
export const typed = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export function createPeople(world: World, delivery: Delivery): People {
  const channelOf = (id: string): Channel => {
    const found = world.channels.get(id);
    if (found === undefined) throw new Error(`there is no channel ${id}`);
    return found;
  };
  const at = (channel: Channel) => ({ channel: channel.id, channel_type: channel.type });

  function write(channel: Channel, message: Message, thread?: string): string {
    channel.messages.push(message);
    const parent = channel.messages.find(({ ts }) => ts === thread)?.user;
    const event = { ...shape(message), ...at(channel), ...(parent !== undefined && { parent_user_id: parent }) };
    if (!channel.members.has(bot.user)) return message.ts;
    delivery.event({ ...event, type: "message" });
    if (message.text.includes(`<@${bot.user}>`) && channel.type !== "im")
      delivery.event({ ...event, type: "app_mention", channel_type: undefined });
    return message.ts;
  }

  function find(channel: Channel, ts: string): Message {
    const found = channel.messages.find((one) => one.ts === ts);
    if (found === undefined) throw new Error(`there is no message ${ts}`);
    return found;
  }

  return {
    say(text, { user = ada, channel = adaDirect, thread, file } = {}) {
      const files = file === undefined ? undefined : [share(world, file)];
      const message: Message = {
        ...{ ts: world.nextTs(), user, text, reactions: new Map() },
        ...(thread !== undefined && { thread_ts: thread }),
        ...(files !== undefined && { files, subtype: "file_share" }),
      };
      return write(channelOf(channel), message, thread);
    },
    robot(text, { channel = adaDirect, thread } = {}) {
      const message: Message = {
        ts: world.nextTs(),
        user: robot.user,
        bot_id: robot.bot,
        text,
        reactions: new Map(),
        ...(thread && { thread_ts: thread }),
      };
      return write(channelOf(channel), message, thread);
    },
    edit(ts, text, { user = ada, channel: id = adaDirect } = {}) {
      const channel = channelOf(id);
      const message = find(channel, ts);
      const before = shape({ ...message });
      message.text = text;
      message.edited = { user, ts: world.nextTs() };
      delivery.event({
        ...{ type: "message", subtype: "message_changed", hidden: true, ts: world.nextTs() },
        ...at(channel),
        message: shape(message),
        previous_message: before,
      });
    },
    delete(ts, { channel: id = adaDirect } = {}) {
      const channel = channelOf(id);
      const message = find(channel, ts);
      channel.messages.splice(channel.messages.indexOf(message), 1);
      const event = { type: "message", subtype: "message_deleted", hidden: true, ts: world.nextTs(), deleted_ts: ts };
      delivery.event({ ...event, ...at(channel), previous_message: shape(message) });
    },
    react(ts, name, { user = ada, channel: id = adaDirect } = {}) {
      const message = find(channelOf(id), ts);
      message.reactions.set(name, new Set([...(message.reactions.get(name) ?? []), user]));
      delivery.event({
        type: "reaction_added",
        user,
        reaction: name,
        item_user: message.user,
        item: { type: "message", channel: id, ts },
        event_ts: world.nextTs(),
      });
    },
    press(value, { user = ada, channel: id = adaDirect, ts } = {}) {
      const channel = channelOf(id);
      const message = ts === undefined ? channel.messages.findLast((one) => one.user === bot.user) : find(channel, ts);
      if (message === undefined) throw new Error("there is no message to press a button of");
      delivery.interactive({
        ...{
          type: "block_actions",
          api_app_id: app,
          token: "old",
          trigger_id: `${world.nextId("G")}.1`,
          team: { id: team, domain: "bakery" },
        },
        user: { id: user, username: world.users.get(user)?.name, name: world.users.get(user)?.name, team_id: team },
        container: {
          type: "message",
          message_ts: message.ts,
          channel_id: id,
          is_ephemeral: false,
          ...(message.thread_ts && { thread_ts: message.thread_ts }),
        },
        channel: { id, name: channel.type === "im" ? "directmessage" : channel.name },
        message: shape(message),
        state: { values: {} },
        response_url: delivery.responseUrl({ channel: id, user }),
        actions: [
          {
            type: "button",
            action_id: "b0-0",
            block_id: "x",
            text: { type: "plain_text", text: "?" },
            value,
            action_ts: world.nextTs(),
          },
        ],
      });
    },
    command(command, text, { user = ada, channel: id = adaDirect } = {}) {
      const channel = channelOf(id);
      const form: Fields = {
        ...{
          token: "old",
          team_id: team,
          team_domain: "bakery",
          channel_id: id,
          channel_name: channel.type === "im" ? "directmessage" : channel.name,
        },
        ...{
          user_id: user,
          user_name: world.users.get(user)?.name,
          command,
          text,
          api_app_id: app,
          is_enterprise_install: "false",
        },
        ...{ response_url: delivery.responseUrl({ channel: id, user }), trigger_id: `${world.nextId("G")}.1` },
      };
      delivery.command(form);
    },
  };
}

function share(
  world: World,
  {
    name = "file",
    mimeType = "application/octet-stream",
    bytes,
  }: { readonly name?: string; readonly mimeType?: string; readonly bytes: Uint8Array },
): Fields {
  const id = world.nextId("F");
  world.files.set(id, {
    id,
    name,
    length: bytes.length,
    ticket: "",
    mimetype: mimeType,
    bytes: Buffer.from(bytes),
    isShared: true,
    shares: {},
  });
  return { id, name, title: name, mimetype: mimeType, size: bytes.length, mode: "hosted", file_access: "visible" };
}
