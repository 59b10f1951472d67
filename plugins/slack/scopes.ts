/** The permissions of the app, and the events that it hears: for the manifest, and for what `doctor` reports. */

/** Each scope of the bot, and what is missing without it. */
export const scopes: Readonly<Record<string, string>> = {
  "app_mentions:read": "mentions in channels do not arrive",
  "channels:history": "messages in public channels do not arrive",
  "channels:read": "the channels of the bot are not known",
  "chat:write": "the bot cannot write",
  commands: "the slash command does not work",
  "files:read": "files of people cannot be read",
  "files:write": "the bot cannot send files",
  "groups:history": "messages in private channels do not arrive",
  "groups:read": "the private channels of the bot are not known",
  "im:history": "direct messages do not arrive",
  "im:read": "direct chats are not known",
  "im:write": "the bot cannot begin a direct chat",
  "mpim:history": "messages in chats of several people do not arrive",
  "mpim:read": "chats of several people are not known",
  "reactions:read": "reactions do not arrive",
  "reactions:write": "the bot cannot set reactions",
  "users:read": "the names of people are not known",
};

/** https://docs.slack.dev/reference/events */
export const events: readonly string[] = [
  "app_mention",
  "app_uninstalled",
  "message.channels",
  "message.groups",
  "message.im",
  "message.mpim",
  "reaction_added",
  "tokens_revoked",
];
