/** People press buttons and react. */
import { type Core, pushTo } from "../core.ts";
import { setReactions } from "../methods/chats.ts";
import { knownReaction } from "../reactions.ts";
import type { Reaction } from "../wire.ts";
import type { MemberStatus } from "../world.ts";
import type { Places } from "./places.ts";

/** The actions of people. The id of a direct chat is that of the person. */
export interface Gestures {
  /**
   * Presses the button with this data. Returns the id of the callback query. `inaccessible`: the message is too old to
   * be included.
   */
  press(
    personId: number,
    chatId: number,
    messageId: number,
    data: string,
    options?: { readonly bot?: string; readonly inaccessible?: boolean },
  ): string;
  react(
    personId: number,
    chatId: number,
    messageId: number,
    emoji: readonly string[],
    options?: { readonly bot?: string },
  ): void;
}

const maxPresses = 10_000;

export function createGestures(core: Core, { enter, messageIn }: Places): Gestures {
  return {
    press(personId, chatId, messageId, data, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      const message = messageIn(room, messageId);
      const buttons = message.reply_markup?.inline_keyboard.flat() ?? [];
      if (!buttons.some((button) => button.callback_data === data))
        throw new Error(`message ${messageId} has no button with that data`);
      const id = core.newId();
      core.presses.set(id, { botId: message.from.id, personId, room: room.key, at: core.seconds() });
      if (core.presses.size > maxPresses) core.presses.delete(core.presses.keys().next().value as string);
      const shown =
        options.inaccessible === true ? { chat: room.chat, message_id: messageId, date: 0 as const } : message;
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
      pushTo(
        core,
        room,
        "message_reaction",
        update,
        (bot) => room.bot === bot.user.id || isLeader(room.members.get(bot.user.id)),
      );
    },
  };
}

function isLeader(status: MemberStatus | undefined): boolean {
  return status === "administrator" || status === "creator";
}
