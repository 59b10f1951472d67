/** People write, and change and remove what they wrote. */
import { sees } from "../audience.ts";
import { type Core, post, pushTo, replace } from "../core.ts";
import { detectEntities } from "../entities.ts";
import type { Message } from "../wire.ts";
import type { Person, Room } from "../world.ts";
import { pasteText, sendAlbum } from "./parcels.ts";
import { type Places, serviceMessage } from "./places.ts";
import { contentOf, type SayOptions, type SentMedia, whereOf } from "./saying.ts";

/** The actions of people. The id of a direct chat is that of the person. */
export interface Writing {
  say(personId: number, chatId: number, text: string, options?: SayOptions): Message;
  /** Sends any other content, in the form in which the platform would store it. */
  send(
    personId: number,
    chatId: number,
    fields: Partial<Message>,
    options?: Pick<SayOptions, "bot" | "thread" | "replyTo">,
  ): Message;
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
  change(
    personId: number,
    chatId: number,
    messageId: number,
    fields: Partial<Message>,
    options?: { readonly bot?: string },
  ): Message;
  remove(personId: number, chatId: number, messageId: number, options?: { readonly bot?: string }): void;
  /** Publishes a post in a channel; posts name no author. */
  post(channelId: number, text: string): Message;
}

const maxText = 4096;

/** `unblock`: who writes to a bot that they had blocked unblocks it. */
export function createWriting(
  core: Core,
  { enter, messageIn }: Places,
  unblock: (personId: number, bot: string | undefined) => void,
): Writing {
  const { world } = core;

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

  const writing: Writing = {
    say(personId, chatId, text, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      const trimmed = text.trim();
      if (trimmed === "" && options.media === undefined) throw new Error("a message needs a text or a file");
      if (trimmed.length > maxText)
        throw new Error(`a message has at most ${maxText} characters; clients split longer ones`);
      const fields = { ...whereOf(room, options), ...contentOf(core, trimmed, options) };
      room.started = true;
      if (room.blocked) unblock(personId, options.bot);
      return send(room, person, fields);
    },
    send(personId, chatId, fields, options = {}) {
      const { person, room } = enter(personId, chatId, options.bot);
      room.started = true;
      return send(room, person, { ...whereOf(room, options), ...fields });
    },
    album(personId, chatId, files, options = {}) {
      return sendAlbum({
        say: (text, more) => writing.say(personId, chatId, text, more),
        album: core.newId(),
        files,
        options,
      });
    },
    paste(personId, chatId, text, options = {}) {
      return pasteText({ say: (part, more) => writing.say(personId, chatId, part, more), text, options });
    },
    edit(personId, chatId, messageId, text, options = {}) {
      const { room } = enter(personId, chatId, options.bot);
      const { text: next, entities } = detectEntities({ text: text.trim(), entities: [] });
      if (next === "" || next.length > maxText) throw new Error(`a message has 1 to ${maxText} characters`);
      const written = messageIn(room, messageId).text !== undefined;
      return writing.change(
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
      if (message.from.id !== personId && room.bot === undefined)
        throw new Error("only own messages can be deleted in a group");
      room.messages.delete(messageId);
      room.reactions.delete(messageId);
      core.emit({ type: "delete", room: room.key, messageId });
    },
    post(channelId, text) {
      const room = world.group(channelId);
      const owner = [...(room?.members ?? [])].find(([, status]) => status === "creator")?.[0];
      const person = owner === undefined ? undefined : world.people.get(owner);
      if (room?.chat.type !== "channel" || person === undefined)
        throw new Error(`there is no channel ${channelId} in the playground`);
      const { text: shown, entities } = detectEntities({ text, entities: [] });
      const content = { text: shown, ...(entities.length === 0 ? {} : { entities }), sender_chat: room.chat };
      const message = post(core, room, serviceMessage(core, room, person, content));
      const { from: _owner, ...shownToBots } = message;
      pushTo(core, room, "channel_post", shownToBots, () => true);
      return message;
    },
  };
  return writing;
}
