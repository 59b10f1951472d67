/** Platforms that a hook may name as its delivery channel, whether a plugin for them is installed or not (spec 3.7). */
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
