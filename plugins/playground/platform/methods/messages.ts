/** Methods for texts: send, edit and delete. */
import { pushToOtherBots } from "../audience.ts";
import { type Call, type Method, post, replace } from "../core.ts";
import { badRequest } from "../errors.ts";
import { captionText, keyboardOf, messageText, same } from "../format.ts";
import { flagOf, isRecord, jsonOf, numberOf, type RawParams, textOf } from "../params.ts";
import { answeredMessage, findRoom, placeOf, writableRoom } from "../rooms.ts";
import type { Message } from "../wire.ts";
import type { Room } from "../world.ts";

type Content = Omit<Message, "message_id" | "date" | "chat" | "from">;

/** The effects that every account has. */
const effects: ReadonlySet<string> = new Set([
  ...["5104841245755180586", "5107584321108051014", "5104858069142078462"],
  ...["5159385139981059251", "5046509860389126442", "5046589136895476101"],
]);

/** How a message is shown and what people may do with it. */
function shownAs(params: RawParams, room: Room): Pick<Content, "has_protected_content" | "effect_id"> {
  const effect = textOf(params, "message_effect_id");
  if (effect !== undefined && (room.chat.type !== "private" || !effects.has(effect)))
    throw badRequest("EFFECT_ID_INVALID");
  return {
    ...(flagOf(params, "protect_content") && { has_protected_content: true }),
    ...(effect !== undefined && { effect_id: effect }),
  };
}

/** Sends a new message of a bot: checks destination, quoted message, keyboard and limits, then stores it. */
export function sendContent(call: Call, room: Room, content: () => Content): Message {
  const { core, bot, params } = call;
  const fields = content();
  const answered = answeredMessage(room, params);
  const place = placeOf(room, params, answered.message);
  const markup = keyboardOf(params);
  const appearance = shownAs(params, room);
  core.limiter.spend(bot.user.id, room.key, room.chat.type !== "private");
  const message = post(core, room, {
    message_id: room.nextMessageId(),
    date: core.seconds(),
    chat: room.chat,
    from: bot.user,
    ...place,
    ...answered.fields,
    ...fields,
    ...appearance,
    ...(markup === undefined ? {} : { reply_markup: markup }),
  });
  pushToOtherBots(core, room, "message", message);
  return message;
}

const sendMessage: Method = (call) => {
  const room = writableRoom(call);
  return sendContent(call, room, () => {
    const { text, entities } = messageText(call);
    const preview = jsonOf(call.params, "link_preview_options", "link preview options");
    return {
      ...{ text, ...(entities.length > 0 && { entities }) },
      ...(isRecord(preview) && { link_preview_options: preview }),
    };
  });
};

const editMessageText: Method = (call) => {
  const { room, message } = ownMessage(call);
  if (message.text === undefined) throw badRequest("there is no text in the message to edit");
  const { text, entities } = messageText(call);
  return applyEdit(call, room, message, { text, entities });
};

const editMessageCaption: Method = (call) => {
  const { room, message } = ownMessage(call);
  if (message.text !== undefined || message.sticker !== undefined)
    throw badRequest("there is no caption in the message to edit");
  const caption = captionText(call, call.params);
  return applyEdit(call, room, message, { caption: caption?.text, caption_entities: caption?.entities });
};

const editMessageReplyMarkup: Method = (call) => {
  const { room, message } = ownMessage(call);
  return applyEdit(call, room, message, {});
};

type Edit = Readonly<Record<"text" | "entities" | "caption" | "caption_entities", unknown>>;

/** Applies an edit. As on the platform, an edit without a keyboard removes the keyboard. */
function applyEdit(call: Call, room: Room, message: Message, change: Partial<Edit>): Message {
  const markup = keyboardOf(call.params);
  const next: Record<string, unknown> = { ...message, ...change, reply_markup: markup };
  for (const name of Object.keys(next)) {
    const value = next[name];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) delete next[name];
  }
  const compared = ["text", "entities", "caption", "caption_entities", "reply_markup"] as const;
  if (compared.every((name) => same(next[name], message[name]))) {
    throw badRequest(
      "message is not modified: specified new message content and reply markup are exactly the same as a " +
        "current content " +
        "and reply markup of the message",
    );
  }
  call.core.limiter.spend(call.bot.user.id, room.key, false);
  const edited = replace(call.core, room, { ...(next as unknown as Message), edit_date: call.core.seconds() });
  pushToOtherBots(call.core, room, "edited_message", edited);
  return edited;
}

/** The bot's own message that an edit refers to. */
function ownMessage(call: Call): { readonly room: Room; readonly message: Message } {
  if (call.params.inline_message_id !== undefined) throw badRequest("MESSAGE_ID_INVALID");
  const room = writableRoom(call);
  const id = numberOf(call.params, "message_id");
  if (id === undefined) throw badRequest("message identifier is not specified");
  const message = room.messages.get(id);
  if (message === undefined) throw badRequest("message to edit not found");
  if (message.from.id !== call.bot.user.id || message.forum_topic_created !== undefined)
    throw badRequest("message can't be edited");
  return { room, message };
}

function canDelete(call: Call, room: Room, message: Message): boolean {
  if (message.from.id === call.bot.user.id || room.chat.type === "private") return true;
  const status = room.members.get(call.bot.user.id);
  return status === "administrator" || status === "creator";
}

function remove(call: Call, room: Room, id: number): void {
  room.messages.delete(id);
  room.reactions.delete(id);
  call.core.emit({ type: "delete", room: room.key, messageId: id });
}

const deleteMessage: Method = (call) => {
  const room = findRoom(call);
  const id = numberOf(call.params, "message_id");
  const message = id === undefined ? undefined : room.messages.get(id);
  if (id === undefined || message === undefined) throw badRequest("message to delete not found");
  if (!canDelete(call, room, message)) throw badRequest("message can't be deleted");
  remove(call, room, id);
  return true;
};

/** As on the platform, unknown ids are skipped. */
const deleteMessages: Method = (call) => {
  const room = findRoom(call);
  const ids = jsonOf(call.params, "message_ids", "message identifiers");
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > 100)
    throw badRequest("message identifiers are not specified");
  for (const id of ids) {
    const message = room.messages.get(Number(id));
    if (message !== undefined && canDelete(call, room, message)) remove(call, room, message.message_id);
  }
  return true;
};

export const messageMethods = {
  sendMessage,
  editMessageText,
  editMessageCaption,
  editMessageReplyMarkup,
  deleteMessage,
  deleteMessages,
};
