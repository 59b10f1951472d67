/** The channel's own codes. The codes that all channels share belong to the gateway. */
import type { CodeDefinition } from "service-gateway/sdk";

/** Defines the code of an update that needs no reply. */
const silent = (meaning: string, hint = ""): CodeDefinition => ({ meaning, hint, outcome: "silent" });

const failed = (meaning: string, hint: string): CodeDefinition => ({ meaning, hint, outcome: "failed" });

export const codes: Readonly<Record<string, CodeDefinition>> = {
  bot_added: silent("The bot was added to the chat."),
  bot_blocked: silent("The user blocked the bot or left the platform."),
  bot_removed: silent("The bot was removed from the chat."),
  bot_rights_changed: silent("The bot's rights in the chat were changed."),
  bot_unblocked: silent("The user unblocked the bot."),
  buttons_excluded: silent(
    "The account does not use buttons in chats of this kind.",
    "Set capabilities.inlineButtons of the account.",
  ),
  channel_direct_messages: silent(
    "The message is in the direct messages of a channel, where the bot does not reply.",
    "Let people write to the bot itself. To stop such updates, take the right to manage direct messages from the bot.",
  ),
  chat_type_unknown: silent("The platform sent a kind of chat that the channel does not know.", "Update the gateway."),
  command_for_another_bot: silent("The command names another bot."),
  content_unknown: silent(
    "The message contains nothing that the channel can read.",
    "Send text, a file or a location.",
  ),
  edit_changes_nothing: silent("The edit did not change the text."),
  live_location_moved: silent("A shared live location moved; the bot replies only to its start."),
  own_reaction: silent("The reaction is the bot's own."),
  press_without_chat: silent("The button belongs to a message that the platform no longer shows the bot."),
  reaction_removed: silent("A reaction was removed."),
  reaction_without_sender: silent("The reaction is anonymous."),
  "service_*": silent("The platform announces a change in the chat, such as a new member or a pinned message."),

  unauthorized: failed(
    "The platform rejected the bot token.",
    "Set botToken or tokenFile of the account to the current token from the bot maker.",
  ),
  delete_refused: failed(
    "The platform does not let the bot delete the message.",
    "Give the bot the right to delete messages; old ones stay.",
  ),
  effect_refused: failed(
    "The platform does not know the effect of the message.",
    "The gateway sends the message without it. Correct message_effect_id.",
  ),
  empty_text: failed(
    "The platform found no visible text in the message.",
    "Send a text with at least one visible character.",
  ),
  no_text: failed("The message to edit has no text.", "Edit its caption, or send a new message."),
  parse_entities: failed(
    "The platform cannot read the formatting of the text.",
    "The gateway sends it as plain text instead.",
  ),
  photo_refused: failed("The platform cannot process the photo.", "Send the image as a document."),
  reply_target_gone: failed(
    "The message to reply to was deleted.",
    "The gateway sends the message without the reference.",
  ),
  token_missing: failed("The account has no bot token.", "Set botToken or tokenFile of the account."),
  voice_forbidden: failed(
    "The user does not accept voice or video messages from bots.",
    "Only the user can change that, in the privacy settings of the platform.",
  ),
  webhook_in_the_way: {
    meaning: "A webhook is set for the bot, so it cannot be polled.",
    hint:
      "The gateway removes it. If it comes back, another program sets it: stop that program, or give " +
      "this gateway a bot of its own.",
  },
  webhook_refused: {
    meaning: "The platform rejected the webhook of the account.",
    hint: "Set webhookUrl to an https address that the platform can reach, on port 443, 80, 88 or 8443.",
  },
  webhook_replaced: {
    meaning: "Another program removed the webhook of the bot, or set another one.",
    hint: "The gateway sets its own again. Stop that program, or give this gateway a bot of its own.",
  },
  webhook_secret_missing: failed("The webhook of the account has no secret.", "Set webhookSecret of the account."),
  webhook_secret_weak: failed(
    "The secret of the account's webhook can be guessed.",
    "Set webhookSecret to a long random one, such as from `openssl rand -hex 32`.",
  ),
};
