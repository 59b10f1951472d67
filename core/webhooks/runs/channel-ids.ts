/** Platforms that a hook may name as its delivery channel, whether or not a plugin for them is installed (spec 3.7). */
export const knownChannelIds: ReadonlySet<string> = new Set([
  "whatsapp",
  "botchat",
  "discord",
  "slack",
  "mattermost",
  "signal",
  "imessage",
  "msteams",
]);
