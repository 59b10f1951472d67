/** Decides where a bot may write: chats by id or name, membership, topics and quoted messages. */
import { type Call, withoutReply } from "./core.ts";
import { ApiError, badRequest, forbidden } from "./errors.ts";
import { flagOf, isRecord, jsonOf, numberOf, type RawParams, textOf } from "./params.ts";
import type { Message } from "./wire.ts";
import type { Room } from "./world.ts";

/** The chat in `chat_id`, even if the bot may not write to it. */
export function findRoom(call: Call, name = "chat_id"): Room {
  const given = textOf(call.params, name);
  if (given === undefined || given.trim() === "") throw badRequest(`${name} is empty`);
  const { world } = call.core;
  if (given.startsWith("@")) return known(world.groupByUsername(given.slice(1)));
  if (!/^-?[0-9]{1,16}$/.test(given)) throw badRequest("chat not found");
  const id = Number(given);
  if (id > 0) return world.people.has(id) ? world.direct(call.bot, id) : known(undefined);
  const room = known(world.group(id));
  if (room.migratedTo !== undefined) {
    throw new ApiError(400, "Bad Request: group chat was upgraded to a supergroup chat", {
      migrate_to_chat_id: room.migratedTo,
    });
  }
  return room;
}

function known(room: Room | undefined): Room {
  if (room === undefined) throw badRequest("chat not found");
  return room;
}

/** The chat in `chat_id`. Throws if the bot may not write to it. */
export function writableRoom(call: Call): Room {
  const room = findRoom(call);
  if (room.chat.type === "private") {
    if (room.blocked) throw forbidden("bot was blocked by the user");
    if (!room.started) throw neverWrote(call, room.chat.id);
    return room;
  }
  const status = room.members.get(call.bot.user.id);
  if (status === "kicked") throw forbidden(`bot was kicked from the ${room.chat.type} chat`);
  if (status === undefined || status === "left") throw forbidden(`bot is not a member of the ${room.chat.type} chat`);
  if (status === "restricted") throw badRequest("not enough rights to send text messages to the chat");
  return room;
}

/**
 * The error for a person who never wrote to the bot. A bot knows people from shared groups but may not write to them
 * first.
 */
function neverWrote(call: Call, personId: number): ApiError {
  for (const room of call.core.world.rooms.values()) {
    if (room.bot === undefined && room.members.has(personId) && room.members.has(call.bot.user.id)) {
      return forbidden("bot can't initiate conversation with a user");
    }
  }
  return badRequest("chat not found");
}

export interface Place {
  readonly message_thread_id?: number;
  readonly is_topic_message?: true;
}

/**
 * The thread of a new message. Messages in the General topic have no thread id, and the platform rejects the topic's
 * displayed id.
 */
export function placeOf(room: Room, params: RawParams, reply: Message | undefined): Place {
  const thread = numberOf(params, "message_thread_id");
  if (room.chat.is_forum === true) {
    const id = thread === undefined || thread === 0 ? (reply?.message_thread_id ?? 1) : thread;
    if (thread === 1) throw badRequest("message thread not found");
    const topic = room.topics.get(id);
    if (topic === undefined) throw badRequest("message thread not found");
    if (topic.closed) throw badRequest("TOPIC_CLOSED");
    return id === 1 ? {} : { message_thread_id: id, is_topic_message: true };
  }
  // A direct chat may have topics, too, but no General topic.
  if (thread !== undefined && room.chat.type === "private" && room.topics.has(thread)) {
    return { message_thread_id: thread, is_topic_message: true };
  }
  if (thread !== undefined && thread !== 0 && (room.chat.type !== "supergroup" || !room.messages.has(thread))) {
    throw badRequest("message thread not found");
  }
  return replyThread(room, reply);
}

/** In a supergroup that is not a forum, a reply has the id of the message that began the thread. */
export function replyThread(room: Room, reply: Message | undefined): Place {
  if (room.chat.type !== "supergroup" || reply === undefined) return {};
  return { message_thread_id: reply.message_thread_id ?? reply.message_id };
}

export interface Answered {
  readonly message: Message | undefined;
  readonly fields: Pick<Message, "reply_to_message" | "quote">;
}

/** The quoted message, from `reply_parameters` or the older flat parameters. */
export function answeredMessage(room: Room, params: RawParams): Answered {
  const given = jsonOf(params, "reply_parameters", "reply parameters");
  if (given !== undefined && !isRecord(given)) throw badRequest("can't parse reply parameters: expected an Object");
  const source = given ?? params;
  const id = numberOf(source, given === undefined ? "reply_to_message_id" : "message_id");
  if (id === undefined || id === 0) return { message: undefined, fields: {} };
  const message = room.messages.get(id);
  if (message === undefined) {
    if (flagOf(source, "allow_sending_without_reply")) return { message: undefined, fields: {} };
    throw badRequest("message to be replied not found");
  }
  const quote = textOf(source, "quote");
  if (quote === undefined || quote === "") return { message, fields: { reply_to_message: withoutReply(message) } };
  const position = (message.text ?? message.caption ?? "").indexOf(quote);
  if (position === -1) throw badRequest("QUOTE_TEXT_INVALID");
  return {
    message,
    fields: { reply_to_message: withoutReply(message), quote: { text: quote, position, is_manual: true } },
  };
}
