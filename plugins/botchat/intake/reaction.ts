/** Reactions to messages. */
import type { Json } from "service-gateway/sdk";
import type { Silent } from "service-gateway/sdk/channel";
import { type Fields, id, list, number, record, text } from "./fields.ts";
import { type BotIdentity, type ChannelInbound, labelOf, parseChat, parseSender } from "./place.ts";

/** The text of each reaction. Unknown kinds are included if they have a name. */
function emojis(value: Json | undefined): string[] {
  return list(value).flatMap((each) => {
    const reaction = record(each);
    switch (reaction?.type) {
      case "emoji":
        return text(reaction.emoji) ?? [];
      case "custom_emoji":
        return `custom emoji ${id(reaction.custom_emoji_id) ?? text(reaction.custom_emoji_id) ?? ""}`.trim();
      case "paid":
        return "⭐";
      default:
        return [];
    }
  });
}

export function parseReaction(update: Fields, bot: BotIdentity): ChannelInbound | Silent | undefined {
  const chatFields = record(update.chat);
  const chat = parseChat(chatFields);
  const actor = record(update.user) ?? record(update.actor_chat);
  const sender = parseSender(actor);
  const messageId = id(update.message_id);
  if (chat === undefined || messageId === undefined) return undefined;
  if (sender === undefined) return { silent: "reaction_without_sender" };
  if (sender.id === bot.id) return { silent: "own_reaction" };
  const before = emojis(update.old_reaction);
  const added = emojis(update.new_reaction).filter((emoji) => !before.includes(emoji));
  if (added.length === 0) return { silent: "reaction_removed" };
  const who = (labelOf(actor) ?? sender.id).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return {
    kind: "reaction",
    // The platform names no topic here, so a forum's reactions go to General.
    chat: { ...chat, ...(chatFields?.is_forum === true && { thread: "1" }) },
    sender,
    text: added.map((emoji) => `Reaction added: ${emoji} by ${who} on message ${messageId}`).join("\n"),
    media: [],
    mention: false,
    timestamp: (number(update.date) ?? 0) * 1_000,
    messageId,
  };
}
