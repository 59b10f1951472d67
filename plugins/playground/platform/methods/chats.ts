/** Methods for chats, members, typing, reactions and answers to button presses. */
import type { Call, Method } from "../core.ts";
import { badRequest } from "../errors.ts";
import { flagOf, isRecord, jsonOf, numberOf, textOf } from "../params.ts";
import { knownReaction } from "../reactions.ts";
import { findRoom, writableRoom } from "../rooms.ts";
import type { Reaction } from "../wire.ts";
import type { MemberStatus, Room } from "../world.ts";

const actions: ReadonlySet<string> = new Set([
  "typing",
  "upload_photo",
  "record_video",
  "upload_video",
  "record_voice",
  "upload_voice",
  "upload_document",
  "choose_sticker",
  "find_location",
  "record_video_note",
  "upload_video_note",
]);
/** Seconds after which a press can no longer be answered. */
const pressLifetime = 900;

const getChat: Method = (call) => {
  const room = personByName(call) ?? findRoom(call);
  if (room.chat.type !== "private") requireMember(call, room);
  return {
    ...room.chat,
    accent_color_id: 0,
    max_reaction_count: 11,
    ...(room.chat.type === "private" ? {} : { permissions: {} }),
  };
};

/** The direct chat of a user who has written to the bot, by username. Other users are not revealed. */
function personByName({ params, core, bot }: Call): Room | undefined {
  const name = textOf(params, "chat_id")?.toLowerCase();
  const person = [...core.world.people.values()].find(
    ({ username }) => username !== undefined && `@${username.toLowerCase()}` === name,
  );
  const room = person && core.world.rooms.get(`${bot.user.id}:${person.id}`);
  return room?.started === true ? room : undefined;
}

function requireMember(call: Call, room: Room): void {
  const status = room.members.get(call.bot.user.id);
  if (status === undefined || status === "left" || status === "kicked") throw badRequest("chat not found");
}

const getChatMember: Method = (call) => {
  const room = findRoom(call);
  const id = numberOf(call.params, "user_id");
  if (id === undefined) throw badRequest("invalid user_id specified");
  const user = call.core.world.userOf(id);
  if (user === undefined) throw badRequest("PARTICIPANT_ID_INVALID");
  return memberOf(user, room.members.get(id) ?? "left");
};

function memberOf(user: unknown, status: MemberStatus): Readonly<Record<string, unknown>> {
  if (status === "creator") return { user, status, is_anonymous: false };
  if (status === "administrator")
    return { user, status, can_be_edited: false, can_manage_chat: true, can_delete_messages: true };
  if (status === "restricted") return { user, status, is_member: true, can_send_messages: false, until_date: 0 };
  return status === "kicked" ? { user, status, until_date: 0 } : { user, status };
}

const getChatAdministrators: Method = (call) => {
  const room = findRoom(call);
  if (room.chat.type === "private") throw badRequest("there are no administrators in the private chat");
  const leaders = [...room.members].filter(([, status]) => status === "creator" || status === "administrator");
  return leaders.map(([id, status]) => memberOf(call.core.world.userOf(id), status));
};

const getChatMemberCount: Method = (call) => findRoom(call).members.size;

const sendChatAction: Method = (call) => {
  const room = writableRoom(call);
  const action = textOf(call.params, "action") ?? "";
  if (!actions.has(action)) throw badRequest("wrong parameter action in request");
  const thread = numberOf(call.params, "message_thread_id");
  // Unlike a message, an action may use the id of the General topic.
  if (thread !== undefined && room.chat.is_forum === true && !room.topics.has(thread))
    throw badRequest("message thread not found");
  call.core.emit({ type: "action", room: room.key, from: call.bot.user, action, thread });
  return true;
};

const setMessageReaction: Method = (call) => {
  const room = writableRoom(call);
  const id = numberOf(call.params, "message_id");
  if (id === undefined || !room.messages.has(id)) throw badRequest("message to react not found");
  const value = jsonOf(call.params, "reaction", "reaction") ?? [];
  if (!Array.isArray(value)) throw badRequest("can't parse reaction: expected an Array");
  if (value.length > 1) throw badRequest("REACTIONS_TOO_MANY");
  const reactions = value.map(readReaction);
  setReactions(room, id, call.bot.user.id, reactions);
  call.core.emit({ type: "reaction", room: room.key, messageId: id, from: call.bot.user, reactions });
  return true;
};

function readReaction(value: unknown): Reaction {
  if (!isRecord(value) || value.type !== "emoji" || typeof value.emoji !== "string")
    throw badRequest("REACTION_INVALID");
  const emoji = knownReaction(value.emoji);
  if (emoji === undefined) throw badRequest("REACTION_INVALID");
  return { type: "emoji", emoji };
}

/** Sets the reactions of one user. Returns the previous ones. */
export function setReactions(
  room: Room,
  messageId: number,
  userId: number,
  reactions: readonly Reaction[],
): readonly Reaction[] {
  const all = room.reactions.get(messageId) ?? new Map<number, readonly Reaction[]>();
  const before = all.get(userId) ?? [];
  if (reactions.length === 0) all.delete(userId);
  else all.set(userId, reactions);
  if (all.size === 0) room.reactions.delete(messageId);
  else room.reactions.set(messageId, all);
  return before;
}

const answerCallbackQuery: Method = (call) => {
  const id = textOf(call.params, "callback_query_id") ?? "";
  const press = call.core.presses.get(id);
  if (press === undefined || press.botId !== call.bot.user.id || call.core.seconds() - press.at > pressLifetime) {
    throw badRequest("query is too old and response timeout expired or query ID is invalid");
  }
  const text = textOf(call.params, "text") ?? "";
  const url = textOf(call.params, "url");
  if (text.length > 200) throw badRequest("MESSAGE_TOO_LONG");
  call.core.presses.delete(id);
  call.core.emit({
    type: "notice",
    room: press.room,
    personId: press.personId,
    callbackId: id,
    alert: flagOf(call.params, "show_alert"),
    ...(text === "" ? {} : { text }),
    url,
  });
  return true;
};

const leaveChat: Method = (call) => {
  const room = writableRoom(call);
  if (room.chat.type === "private") throw badRequest("can't leave private chats");
  room.members.set(call.bot.user.id, "left");
  call.core.emit({ type: "room", room: room.key });
  return true;
};

export const chatMethods = {
  getChat,
  getChatMember,
  getChatAdministrators,
  getChatMemberCount,
  sendChatAction,
  setMessageReaction,
  answerCallbackQuery,
  leaveChat,
};
