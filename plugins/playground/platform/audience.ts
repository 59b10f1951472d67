/** Which bots see a message: all of a direct chat, and in groups those that privacy mode lets see it. */
import { type Core, pushTo } from "./core.ts";
import type { Message, UpdateKind } from "./wire.ts";
import type { Bot, Room } from "./world.ts";

/** In groups, privacy mode passes only messages meant for the bot, unless it is an administrator. */
export function sees(room: Room, message: Message): (bot: Bot) => boolean {
  return (bot) => {
    if (room.bot !== undefined) return room.bot === bot.user.id && !room.blocked;
    const status = room.members.get(bot.user.id);
    if (!bot.privacy || status === "administrator" || status === "creator") return true;
    return isMeantFor(bot, message);
  };
}

/** Since Bot API 10.0, bots see each other's messages in groups. */
export function pushToOtherBots(core: Core, room: Room, kind: UpdateKind, message: Message): void {
  if (room.bot !== undefined) return;
  const isSeen = sees(room, message);
  pushTo(core, room, kind, message, (bot) => bot.user.id !== message.from.id && isSeen(bot));
}

function isMeantFor(bot: Bot, message: Message): boolean {
  const name = `@${bot.user.username?.toLowerCase() ?? ""}`;
  const answered = message.reply_to_message;
  if (answered?.from.id === bot.user.id) return true;
  const text = message.text ?? message.caption ?? "";
  return (message.entities ?? message.caption_entities ?? []).some((entity) => {
    if (entity.type === "text_mention") return entity.user?.id === bot.user.id;
    const part = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    if (entity.type === "mention") return part === name;
    return entity.type === "bot_command" && (!part.includes("@") || part.endsWith(name));
  });
}
