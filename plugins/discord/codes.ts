/** The reasons of the channel's own. */
import type { CodeDefinition } from "service-gateway/sdk";

const contentSwitch =
  "Open https://discord.com/developers/applications, choose the application, then Bot, and switch on " +
  "Message Content Intent. Then restart the gateway.";

export const codes = {
  bad_session: {
    meaning: "Discord does not continue the session of the bot.",
    hint: "The bot begins a new one by itself, and reads what was written meanwhile.",
  },
  content_intent_missing: {
    meaning: "The Message Content Intent is off: in servers the bot reads only messages that mention it.",
    hint: contentSwitch,
  },
  intents_refused: {
    meaning: "Discord refuses an intent that the bot asks for.",
    hint: contentSwitch,
  },
  interaction_expired: {
    meaning: "Discord takes an answer that one person sees for 15 minutes after the command or the press only.",
    hint: "The person can use the command again.",
    outcome: "failed",
  },
  press_without_chat: { meaning: "A press or a command names no chat or no person.", hint: "", outcome: "silent" },
  reaction_without_chat: { meaning: "A reaction names no chat or no person.", hint: "", outcome: "silent" },
  own_reaction: { meaning: "The reaction is the bot's own.", hint: "", outcome: "silent" },
  edit_changes_nothing: {
    meaning: "The edit changed nothing that a person wrote, such as the preview of a link.",
    hint: "",
    outcome: "silent",
  },
  no_text: {
    meaning: "The message contains nothing that the bot can read.",
    hint: "If it has a text, switch on the Message Content Intent of the bot.",
    outcome: "silent",
  },
  sharding_required: {
    meaning:
      "The bot is in so many servers that Discord asks for several connections, which this channel does not make.",
    hint: "Let the bot leave servers, or use a bot of its own for each community.",
  },
  unknown_host: {
    meaning: "Discord named a host that is not its own, so the token was not sent there.",
    hint: "If a proxy of yours answers for Discord, set apiRoot to its address.",
  },
} satisfies Readonly<Record<string, CodeDefinition>>;
