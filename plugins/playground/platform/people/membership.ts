/** People block bots, come and go, and change what a group is. */
import { type Core, post, pushTo } from "../core.ts";
import { createTopic, type MemberStatus } from "../world.ts";
import { type Places, serviceMessage } from "./places.ts";

/** The actions of people. The id of a direct chat is that of the person. */
export interface Membership {
  block(personId: number, blocked: boolean, options?: { readonly bot?: string }): void;
  /** Makes a person or bot a member or administrator of a group, or removes it. */
  setMember(chatId: number, userId: number, status: MemberStatus): void;
  createTopic(personId: number, chatId: number, name: string): number;
  closeTopic(personId: number, chatId: number, topicId: number): void;
  /** Converts a group to a supergroup. Returns its new id. */
  migrate(personId: number, chatId: number): number;
}

export function createMembership(core: Core, { botOf, enter }: Places): Membership {
  const { world } = core;
  return {
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
      if (room === undefined || user === undefined)
        throw new Error(`there is no chat ${chatId} or no user ${userId} in the playground`);
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
}
