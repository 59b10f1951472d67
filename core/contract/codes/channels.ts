/**
 * Codes of channels: errors of a platform or of the connection to it. All channels use these codes; a plugin may add
 * its own.
 */
import type { CodeTable } from "./code.ts";

export const channelCodes = {
  aborted: { meaning: "The call was stopped, because the gateway stops or the result is no longer needed.", hint: "" },
  bad_answer: {
    meaning: "The platform's answer cannot be read.",
    hint: "Check the address of the platform and the proxy.",
    outcome: "failed",
  },
  bad_request: {
    meaning: "The platform rejected the call.",
    hint: "Read the detail; it contains the platform's reason.",
    outcome: "failed",
  },
  blocked_by_user: {
    meaning: "The user has blocked the bot or left the platform.",
    hint: "Only the user can change that, by starting the bot again.",
    outcome: "failed",
  },
  call_failed: {
    meaning: "The call to the platform failed for an unknown reason.",
    hint: "Read the detail and the log.",
    outcome: "failed",
  },
  certificate_refused: {
    meaning: "The certificate of the platform's server is not trusted.",
    hint: "Set caFile to the certificate that signed the server's.",
  },
  own_message: { meaning: "The message is the bot's own.", hint: "", outcome: "silent" },
  service_message: {
    meaning: "The platform announces a change in the chat, such as a new member or a new title.",
    hint: "",
    outcome: "silent",
  },
  deleted_by_sender: {
    meaning: "The writer deleted the message, so it is not answered, and its words are no longer stored.",
    hint: "",
    outcome: "silent",
  },
  message_deleted: {
    meaning: "A person deleted a message; its words were removed here, too.",
    hint: "",
    outcome: "silent",
  },
  message_unknown: {
    meaning: "The message that the platform reports about is not stored here, or another person wrote it.",
    hint: "",
    outcome: "silent",
  },
  edit_taken_up: {
    meaning: "The message had not had its turn, which reads the edited text.",
    hint: "",
    outcome: "silent",
  },
  edit_noted: {
    meaning: "The edit is not answered; the next turn of the conversation mentions it.",
    hint: "Set editedMessages of the account to answer, so that each edit gets an answer.",
    outcome: "silent",
  },
  edit_ignored: {
    meaning: "Edits of messages that had their turn are ignored in this account.",
    hint: "Set editedMessages of the account to note or answer.",
    outcome: "silent",
  },
  message_delivered: { meaning: "The platform reported that the message has reached the person.", hint: "" },
  message_read: { meaning: "The platform reported that the person has seen the message.", hint: "" },
  chat_migrated: {
    meaning: "The group has a new id; its conversation and settings moved there.",
    hint: "Replace the old id in the configuration.",
    outcome: "silent",
  },
  outside_window: {
    meaning: "The platform lets the bot write there only as an answer, or for some time after a person has written.",
    hint: "Ask the person to write to the bot first, or send it elsewhere.",
    outcome: "failed",
  },
  chat_not_found: {
    meaning: "The platform does not know the chat, or the bot is not in it.",
    hint:
      "Let the person write to the bot first, or add the bot to the group. If that is done, correct the " +
      "id: /whoami in the chat shows it, and so does `{command} events list`.",
    outcome: "failed",
  },
  conflict: {
    meaning: "Another program receives the updates of the same bot.",
    hint: "Stop that program, or give this gateway a bot of its own.",
  },
  flood_wait: {
    meaning: "The platform asks to wait before the next message.",
    hint: "The gateway waits and sends it by itself.",
    outcome: "failed",
  },
  listen_failed: { meaning: "The listener of the account cannot start.", hint: "Check webhookHost and webhookPort." },
  message_gone: { meaning: "The message to change was deleted, or is not the bot's.", hint: "", outcome: "failed" },
  message_not_modified: { meaning: "The message already shows this text.", hint: "" },
  method_unknown: {
    meaning: "The platform's server does not know the method.",
    hint: "Update the server of the platform, or check its address.",
    outcome: "failed",
  },
  name_refused: {
    meaning: "The server does not take the bot's name.",
    hint: "Choose another name for the account.",
    outcome: "failed",
  },
  name_taken: {
    meaning: "The server does not give the bot the name that it wants.",
    hint:
      "The bot asks for it again every minute. If another has it for good, choose another name, or " +
      "register it at the server.",
  },
  network: { meaning: "The platform cannot be reached.", hint: "Check the network and the proxy.", outcome: "failed" },
  no_rights: {
    meaning: "The bot is not a member of the chat, or lacks a right there.",
    hint: "Add the bot to the chat, or grant the right in the chat's settings.",
    outcome: "failed",
  },
  not_taken_in: { meaning: "Updates are only inspected here, not accepted.", hint: "" },
  platform_error: {
    meaning: "The platform reported an error of its own.",
    hint: "The gateway retries.",
    outcome: "failed",
  },
  platform_silent: {
    meaning: "The platform did not answer a send, so it is unknown whether the message was sent.",
    hint: "",
  },
  reaction_invalid: { meaning: "The chat does not allow this reaction.", hint: "Choose another reaction, or none." },
  receive_failed: {
    meaning: "Updates could not be received or stored.",
    hint: "Check the network and the free space on the disk.",
  },
  removed_from_room: {
    meaning: "The bot was removed from a room.",
    hint: "It joins again by itself. Let it in there, or correct the rooms of the account.",
  },
  room_refused: {
    meaning: "The server does not let the bot into a room.",
    hint: "Let it in there, or correct the rooms of the account.",
  },
  sign_in_needed: {
    meaning: "A person has to sign the bot in.",
    hint: "`{command} channels status` shows how.",
  },
  sign_in_refused: {
    meaning: "The server did not let the bot in.",
    hint: "Check the name and the password of the account, and whether the server accepts the bot.",
    outcome: "failed",
  },
  thread_gone: {
    meaning: "The topic was deleted or closed.",
    hint: "Open the topic again, or set another one.",
    outcome: "failed",
  },
  timeout: {
    meaning: "The platform did not answer in time.",
    hint: "Check the network and the proxy.",
    outcome: "failed",
  },
  too_long: {
    meaning: "The text is longer than the platform allows.",
    hint: "Send a shorter text.",
    outcome: "failed",
  },
  unauthorized: {
    meaning: "The platform rejected the account's credentials.",
    hint: "Set the account's current credentials.",
    hintWhileRetrying:
      "The gateway tries again by itself. If the platform keeps rejecting them, set the account's current credentials.",
    outcome: "failed",
  },
  worker_down: {
    meaning: "The worker of the plugin is starting again, so nothing was sent.",
    hint: "The gateway sends it once the worker is up. `{command} plugins list` shows why it ended.",
    outcome: "failed",
  },
  worker_ended: {
    meaning: "The worker of the plugin ended during the call.",
    hint: "`{command} plugins list` shows why it ended. Read the plugin's log lines.",
    outcome: "failed",
  },
} as const satisfies CodeTable;
