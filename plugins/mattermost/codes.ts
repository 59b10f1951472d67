/** The channel's own codes. The codes that all channels share belong to the gateway. */
import type { CodeDefinition } from "service-gateway/sdk";

export const codes = {
  channel_archived: {
    meaning: "The channel is archived.",
    hint: "Unarchive it: open the channel, its menu, Unarchive Channel.",
    outcome: "failed",
  },
  edit_too_late: {
    meaning: "The message is too old to be edited on this server.",
    hint: "An administrator changes it in System Console, Site Configuration, Posts, Post edit time limit.",
    outcome: "failed",
  },
  events_missed: {
    meaning: "The connection left out events.",
    hint: "The gateway connects again, and fetches what it has missed.",
  },
  files_disabled: {
    meaning: "The server does not allow files.",
    hint: "An administrator enables them in System Console, Site Configuration, File Sharing and Downloads.",
    outcome: "failed",
  },
  press_late: {
    meaning: "A button was pressed more than an hour before its request arrived, so it is ignored.",
    hint: "Press it again. If that does not help, compare the clocks of the gateway and of the Mattermost server.",
    outcome: "silent",
  },
  press_unsigned: {
    meaning: "The request of a button does not have the server's signature for the person who pressed it.",
    hint: "The request may be a copy. If every press ends so, check that url is the server of the bot.",
    outcome: "silent",
  },
  send_in_progress: {
    meaning: "The server is still handling an earlier attempt of this message.",
    hint: "The gateway tries again.",
    outcome: "failed",
  },
  webhook_message: {
    meaning: "The message was posted by a webhook or a slash command, so its writer is unknown.",
    hint: "Post to a webhook of the gateway instead.",
    outcome: "silent",
  },
  websocket_refused: {
    meaning: "The server answers over HTTP, and refuses the WebSocket.",
    hint: "Let the proxy in front of Mattermost pass WebSocket upgrades for /api/v4/websocket.",
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;
