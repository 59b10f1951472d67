/** Where people are: the chats that they are in, the messages there, and the bots that see them. */
import type { Core } from "../core.ts";
import type { Message } from "../wire.ts";
import type { Bot, Person, Room } from "../world.ts";

export interface Places {
  /** The bot with this username; the first one without. */
  botOf(username: string | undefined): Bot;
  /** A chat that the person is in. A direct chat's id is the person's own id. */
  enter(personId: number, chatId: number, bot?: string): { readonly person: Person; readonly room: Room };
  messageIn(room: Room, messageId: number): Message;
}

export function createPlaces({ world }: Core): Places {
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
    if (status === undefined || status === "left" || status === "kicked")
      throw new Error(`person ${personId} is not in chat ${chatId}`);
    return { person, room };
  }

  function messageIn(room: Room, messageId: number): Message {
    const message = room.messages.get(messageId);
    if (message === undefined) throw new Error(`there is no message ${messageId} in chat ${room.chat.id}`);
    return message;
  }

  return { botOf, enter, messageIn };
}

/** What the platform itself says in a chat. */
export function serviceMessage(core: Core, room: Room, from: Person, fields: Partial<Message>): Message {
  return { message_id: room.nextMessageId(), from, chat: room.chat, date: core.seconds(), ...fields };
}
