/** The actions of people in the playground: write, edit, press, react, block, join and leave. */
import { type Core, post, pushTo, replace } from "../core.ts";
import { detectEntities } from "../entities.ts";
import { setReactions } from "../methods/chats.ts";
import type { Message, Reaction } from "../wire.ts";
import { type Bot, createTopic, type MemberStatus, type Person, type Room } from "../world.ts";
import { pasteText, sendAlbum } from "./parcels.ts";
import { knownReaction } from "./reactions.ts";
import { contentOf, isMeantFor, type SayOptions, type SentMedia, whereOf } from "./saying.ts";

/** The actions of people. The id of a direct chat is that of the person. */
export interface People {
  say(personId: number, chatId: number, text: string, options?: SayOptions): Message;
  /** Sends any other content, in the form in which the platform would store it. */
  send(personId: number, chatId: number, fields: Partial<Message>, options?: Pick<SayOptions, "bot" | "thread" | "replyTo">): Message;
  /** Sends an album as an app does: messages with consecutive ids, and the caption on the first. */
  album(
    personId: number,
    chatId: number,
    files: readonly SentMedia[],
    options?: SayOptions & { readonly caption?: string },
  ): readonly Message[];
  /** Sends a text of any length, which the app splits into messages with consecutive ids. */
  paste(personId: number, chatId: number, text: string, options?: SayOptions): readonly Message[];
  edit(personId: number, chatId: number, messageId: number, text: string, options?: { readonly bot?: string }): Message;
  /** Changes a message in any other way: another file, a live location that moved, a link preview. */
  change(personId: number, chatId: number, messageId: number, fields: Partial<Message>, options?: { readonly bot?: string }): Message;
  remove(personId: number, chatId: number, messageId: number, options?: { readonly bot?: string }): void;
  /** Presses the button with this data. Returns the id of the callback query. `inaccessible`: the message is too old to be included. */
  press(
    personId: number,
    chatId: number,
    messageId: number,
    data: string,
    options?: { readonly bot?: string; readonly inaccessible?: boolean },
  ): string;
  react(personId: number, chatId: number, messageId: number, emoji: readonly string[], options?: { readonly bot?: string }): void;
  block(personId: number, blocked: boolean, options?: { readonly bot?: string }): void;
  /** Makes a person or bot a member or administrator of a group, or removes it. */
  setMember(chatId: number, userId: number, status: MemberStatus): void;
  createTopic(personId: number, chatId: number, name: string): number;
  closeTopic(personId: number, chatId: number, topicId: number): void;
  /** Publishes a post in a channel; posts name no author. */
  post(channelId: number, text: string): Message;
  /** Converts a group to a supergroup. Returns its new id. */
  migrate(personId: number, chatId: number): number;
}

const maxText = 4096;
const maxPresses = 10_000;

export function createPeople(core: Core): People {
  const { world } = core;

  function botOf(username: string | undefined): Bot {
    const bot = username === undefined ? world.bots[0] : world.bots.find((one) => one.user.username === username);
    if (bot === undefined) throw new Error(`there is no bot ${username ?? ""} in the playground`);
    return bot;
  }

  function enter(personId: number, chatId: number, bot?: string): { readonly person: Person; readonly room: Room } {
    const person = world.people.get(personId);
    if (person === undefined) throw new Error(`there is no person ${personId} in the playground`);
    if (chatId > 0 && chatId !== personId) throw new Error(`chat ${chatId} is another person's direct chat`);
    const room = chatId > 0 ? world.direct(botOf(bot), personId) : world.group(chatId);
    if (room === undefined) throw new Error(`there is no chat ${chatId} in the playground`);
    const status = room.members.get(personId);
    if (status === undefined || status === "left" || status === "kicked") throw new Error(`person ${personId} is not in chat ${chatId}`);
    return { person, room };
  }

  function messageIn(room: Room, messageId: number): Message {
    const message = room.messages.get(messageId);
    if (message === undefined) throw new Error(`there is no message ${messageId} in chat ${room.chat.id}`);
    return message;
  }

  /** Which bots see a message. In groups, privacy mode passes only messages meant for the bot, unless it is an administrator. */
  function sees(room: Room, message: Message): (bot: Bot) => boolean {
    return (bot) => {
      if (room.bot !== undefined) return room.bot === bot.user.id && !room.blocked;
      const status = room.members.get(bot.user.id);
      if (!bot.privacy || status === "administrator" || status === "creator") return true;
      return isMeantFor(bot, message);
    };
  }

  function send(room: Room, person: Person, fields: Partial<Message>): Message {
    const message: Message = {
      message_id: room.nextMessageId(),
      from: person,
      chat: room.chat,
      date: core.seconds(),
      ...fields,
    };
    post(core, room, message);
    pushTo(core, room, "message", message, sees(room, message));
    return message;
  }

  const people: People = {
    say(personId, chatId, text, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      const trimmed = text.trim();
      if (trimmed === "" && options.media === undefined) throw new Error("a message needs a text or a file");
      if (trimmed.length > maxText) throw new Error(`a message has at most ${maxText} characters; clients split longer ones`);
      const fields = { ...whereOf(room, options), ...contentOf(core, trimmed, options) };
      room.started = true;
      if (room.blocked) people.block(personId, false, options.bot === undefined ? {} : { bot: options.bot });
      return send(room, person, fields);
    },
    send(personId, chatId, fields, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      room.started = true;
      return send(room, person, { ...whereOf(room, options), ...fields });
    },
    album(personId, chatId, files, options = {}) {
      return sendAlbum({ say: (text, more) => people.say(personId, chatId, text, more), album: core.newId(), files, options });
    },
    paste(personId, chatId, text, options = {}) {
      return pasteText({ say: (part, more) => people.say(personId, chatId, part, more), text, options });
    },
    edit(personId, chatId, messageId, text, options = {}) {
      const { room } = enter(personId, chatId, options.bot);
      const { text: next, entities } = detectEntities({ text: text.trim(), entities: [] });
      if (next === "" || next.length > maxText) throw new Error(`a message has 1 to ${maxText} characters`);
      const written = messageIn(room, messageId).text !== undefined;
      return people.change(
        personId,
        chatId,
        messageId,
        written ? { text: next, entities } : { caption: next, caption_entities: entities },
        options,
      );
    },
    change(personId, chatId, messageId, fields, options = {}) {
      const { room } = enter(personId, chatId, options.bot);
      const old = messageIn(room, messageId);
      if (old.from.id !== personId) throw new Error("only own messages can be edited");
      const message = replace(core, room, { ...old, ...fields, edit_date: core.seconds() });
      pushTo(core, room, "edited_message", message, sees(room, message));
      return message;
    },
    remove(personId, chatId, messageId, options = {}) {
      const { room } = enter(personId, chatId, options.bot);
      const message = messageIn(room, messageId);
      if (message.from.id !== personId && room.bot === undefined) throw new Error("only own messages can be deleted in a group");
      room.messages.delete(messageId);
      room.reactions.delete(messageId);
      core.emit({ type: "delete", room: room.key, messageId });
    },
    press(personId, chatId, messageId, data, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      const message = messageIn(room, messageId);
      const buttons = message.reply_markup?.inline_keyboard.flat() ?? [];
      if (!buttons.some((button) => button.callback_data === data)) throw new Error(`message ${messageId} has no button with that data`);
      const id = core.newId();
      core.presses.set(id, { botId: message.from.id, personId, room: room.key, at: core.seconds() });
      if (core.presses.size > maxPresses) core.presses.delete(core.presses.keys().next().value as string);
      const shown = options.inaccessible === true ? { chat: room.chat, message_id: messageId, date: 0 as const } : message;
      core.feeds
        .get(message.from.id)
        ?.push("callback_query", { id, from: person, message: shown, chat_instance: `instance-${room.key}`, data });
      return id;
    },
    react(personId, chatId, messageId, emoji, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      messageIn(room, messageId);
      const reactions = emoji.map((one): Reaction => {
        const known = knownReaction(one);
        if (known === undefined) throw new Error(`${one} is not a reaction of the platform`);
        return { type: "emoji", emoji: known };
      });
      const before = setReactions(room, messageId, personId, reactions);
      core.emit({ type: "reaction", room: room.key, messageId, from: person, reactions });
      const update = {
        chat: room.chat,
        message_id: messageId,
        user: person,
        date: core.seconds(),
        old_reaction: before,
        new_reaction: reactions,
      };
      // In groups, the platform shows reactions to administrators only.
      pushTo(core, room, "message_reaction", update, (bot) => room.bot === bot.user.id || isLeader(room.members.get(bot.user.id)));
    },
    block(personId, blocked, options = {}) {
      const bot = botOf(options.bot);
      const { person, room } = enter(personId, personId, options.bot);
      if (room.blocked === blocked) return;
      room.blocked = blocked;
      core.feeds.get(bot.user.id)?.push("my_chat_member", {
        chat: room.chat,
        from: person,
        date: core.seconds(),
        old_chat_member: { user: bot.user, status: blocked ? "member" : "kicked" },
        new_chat_member: { user: bot.user, status: blocked ? "kicked" : "member" },
      });
      core.emit({ type: "room", room: room.key });
    },
    setMember(chatId, userId, status) {
      const room = world.group(chatId);
      const user = world.userOf(userId);
      if (room === undefined || user === undefined) throw new Error(`there is no chat ${chatId} or no user ${userId} in the playground`);
      const before = room.members.get(userId) ?? "left";
      room.members.set(userId, status);
      const from = world.userOf([...room.members].find(([, role]) => role === "creator")?.[0] ?? userId);
      core.feeds.get(userId)?.push("my_chat_member", {
        chat: room.chat,
        from,
        date: core.seconds(),
        old_chat_member: { user, status: before },
        new_chat_member: { user, status },
      });
      core.emit({ type: "room", room: room.key });
    },
    createTopic(personId, chatId, name) {
      const { person, room } = enter(personId, chatId);
      if (room.chat.is_forum !== true) throw new Error(`chat ${chatId} is not a forum`);
      const message = createTopic(world, room, person, name, core.seconds());
      core.emit({ type: "room", room: room.key });
      pushTo(core, room, "message", message, () => true);
      return message.message_id;
    },
    closeTopic(personId, chatId, topicId) {
      const { person, room } = enter(personId, chatId);
      const topic = room.topics.get(topicId);
      if (topic === undefined) throw new Error(`there is no topic ${topicId} in chat ${chatId}`);
      topic.closed = true;
      core.emit({ type: "room", room: room.key });
      const place = topicId === 1 ? {} : { message_thread_id: topicId, is_topic_message: true as const };
      const message = post(core, room, serviceMessage(core, room, person, { ...place, forum_topic_closed: {} }));
      pushTo(core, room, "message", message, () => true);
    },
    post(channelId, text) {
      const room = world.group(channelId);
      const owner = [...(room?.members ?? [])].find(([, status]) => status === "creator")?.[0];
      const person = owner === undefined ? undefined : world.people.get(owner);
      if (room?.chat.type !== "channel" || person === undefined) throw new Error(`there is no channel ${channelId} in the playground`);
      const { text: shown, entities } = detectEntities({ text, entities: [] });
      const content = { text: shown, ...(entities.length === 0 ? {} : { entities }), sender_chat: room.chat };
      const message = post(core, room, serviceMessage(core, room, person, content));
      const { from: _owner, ...shownToBots } = message;
      pushTo(core, room, "channel_post", shownToBots, () => true);
      return message;
    },
    migrate(personId, chatId) {
      const { person, room } = enter(personId, chatId);
      if (room.chat.type !== "group") throw new Error(`chat ${chatId} is not a basic group`);
      const id = -1_002_000_000_000 + chatId;
      const next = world.addGroup({ id, type: "supergroup", title: room.chat.title ?? "Group", members: [] });
      for (const [member, status] of room.members) next.members.set(member, status);
      room.migratedTo = id;
      const left = post(core, room, serviceMessage(core, room, person, { migrate_to_chat_id: id }));
      pushTo(core, room, "message", left, () => true);
      const begun = post(core, next, serviceMessage(core, next, person, { migrate_from_chat_id: chatId }));
      pushTo(core, next, "message", begun, () => true);
      core.emit({ type: "room", room: next.key });
      return id;
    },
  };
  return people;
}

function isLeader(status: MemberStatus | undefined): boolean {
  return status === "administrator" || status === "creator";
}

function serviceMessage(core: Core, room: Room, from: Person, fields: Partial<Message>): Message {
  return { message_id: room.nextMessageId(), from, chat: room.chat, date: core.seconds(), ...fields };
}
