/** Codes of the path: the steps of an event from its acceptance to its end. */
import type { CodeTable } from "./code.ts";

export const pathCodes = {
  account_not_open: {
    meaning:
      "The account is not open: it is not configured, disabled, without its plugin, or cannot be opened. " +
      "What needs it waits.",
    hint: "Check the account: `{command} channels status`. `{command} events drop` ends what waits for it.",
    outcome: "failed",
  },
  account_replaced: {
    meaning:
      "The account signs in as another bot than the one that received the event. The event waits for the former one.",
    hint: "Set the credentials of the former bot again, or end what waits for it: `{command} events drop`.",
  },
  admit_failed: {
    meaning: "The channel failed while it checked its limits; the message was sent without the check.",
    hint: "",
  },
  answered: { meaning: "The reply was sent.", hint: "", outcome: "answered" },
  apology: { meaning: "The reply could not be delivered, so an apology was sent.", hint: "" },
  attempt_failed: {
    meaning: "An attempt failed; the gateway retries the event.",
    hint: "Read the log lines around this time: `{command} logs`.",
  },
  attempts_exhausted: {
    meaning: "All three attempts ended without a result, for example because the process was killed.",
    hint:
      "Read the log lines around the attempts: `{command} logs`. Then `{command} hooks replay` runs a " +
      "webhook again.",
    outcome: "failed",
  },
  channel_failed: {
    meaning: "The channel plugin failed while it sent the message.",
    hint: "Read the detail and the log. This may be a bug in the plugin.",
    outcome: "failed",
  },
  done: { meaning: "The turn ended with a reply.", hint: "" },
  heartbeat_ok: { meaning: "The agent replied HEARTBEAT_OK: it found nothing to report.", hint: "", outcome: "silent" },
  no_reply: { meaning: "The agent chose not to reply.", hint: "", outcome: "silent" },
  delivered_already: {
    meaning:
      "The replies that these events report are already in the chat of the heartbeat, so no model was called. The " +
      "agent reads the events in its next turn.",
    hint: "",
    outcome: "silent",
  },
  dropped: {
    meaning: "An operator ended the event while it waited: `{command} events drop`.",
    hint: "",
    outcome: "silent",
  },
  empty_reply: {
    meaning: "The reply contains nothing that can be shown.",
    hint: "Look at the reply of the model; it may contain only hidden text.",
    outcome: "silent",
  },
  engine_silent: { meaning: "The engine decided that no reply is needed.", hint: "", outcome: "silent" },
  ingress_failed: {
    meaning: "A plugin failed while it read the event.",
    hint: "Correct or disable the plugin.",
    outcome: "failed",
  },
  rest_not_tried: {
    meaning: "The rest of the reply was not tried, because the chat or the account cannot be reached.",
    hint: "",
  },
  routing_failed: {
    meaning: "A plugin failed while it chose the agent.",
    hint: "Correct or disable the plugin.",
    outcome: "failed",
  },
  removed: { meaning: "The message was deleted from the chat.", hint: "" },
  sent: { meaning: "The message was sent.", hint: "" },
  formatted: { meaning: "The reply was converted into the platform's messages.", hint: "" },
  formatting_failed: {
    meaning: "A plugin failed while it formatted the reply.",
    hint: "Correct or disable the plugin.",
    outcome: "failed",
  },
  lease_lost: {
    meaning: "The node that ran the event lost its lease, so the event runs again, on any node.",
    hint: "Check that node: its load, and its connection to the database.",
  },
  limits_waited: { meaning: "The message waited because of the platform's rate limits.", hint: "" },
  media_unavailable: {
    meaning: "A file of the reply cannot be read or fetched.",
    hint: "Check the path or the address of the file.",
    outcome: "failed",
  },
  no_channel: {
    meaning: "No plugin sends to the channel that the reply goes to.",
    hint: "Look at the status of the channel: `{command} channels status`.",
    outcome: "failed",
  },
  no_engine: {
    meaning: "No engine is loaded that can run the turn.",
    hint: "Load an engine plugin.",
    outcome: "failed",
  },
  no_ingress: {
    meaning: "No plugin can read events from this source.",
    hint: "Load the plugin that the event came from.",
    outcome: "failed",
  },
  no_recipient: {
    meaning: "There is no chat yet that the reply could go to.",
    hint: "Write to the bot once in a direct chat, or set channel and to.",
    outcome: "silent",
  },
  nothing_to_do: { meaning: "The event was understood and needs no reply.", hint: "", outcome: "silent" },
  notice_not_sent: { meaning: "A notice about the failure could not be sent.", hint: "" },
  part_omitted: { meaning: "The channel cannot show a part of the reply and left it out.", hint: "" },
  part_too_long: {
    meaning: "A part of the reply is longer than the platform allows.",
    hint: "This is a bug in the channel plugin: it must split long texts.",
    outcome: "failed",
  },
  platform_answers: { meaning: "The platform answers again after an outage.", hint: "" },
  possibly_repeated: {
    meaning: "The connection broke during a send, so the message was sent again and may be shown twice.",
    hint: "",
  },
  preview_uncertain: {
    meaning:
      "The connection broke while a message of the preview was sent, so the beginning of the reply may " +
      "remain beside it.",
    hint: "Remove the message from the chat if it is there.",
  },
  recipient_refused: {
    meaning: "The reply goes to the last person who wrote directly, and that person may no longer write to the bot.",
    hint: "Write to the bot in a direct chat, or set channel and to.",
    outcome: "silent",
  },
  render_failed: {
    meaning: "The channel could not convert the reply into messages.",
    hint: "This is a bug in the channel plugin.",
    outcome: "failed",
  },
  repeated_by_key: {
    meaning: "The connection broke during a send, so the message was sent again. The platform shows it once.",
    hint: "",
  },
  routed: { meaning: "The agent and the session for the event are chosen.", hint: "" },
  send_fate_unknown: {
    meaning: "It is unknown whether the message was sent; the gateway does not send it again.",
    hint: "Look into the chat. Ask again if the reply is missing.",
    outcome: "failed",
  },
  sent_as_text: { meaning: "The platform refused the formatting, so the reply was sent as plain text.", hint: "" },
  stopped: { meaning: "The turn was stopped with /stop.", hint: "", outcome: "silent" },
  unit_ended: { meaning: "The event ended before this message was sent, so the message was dropped.", hint: "" },
  waited_too_long: {
    meaning: "The event waited for seven days without being processed.",
    hint: "Read in the log what it waited for; `{command} events retry` runs it again.",
    outcome: "failed",
  },
} as const satisfies CodeTable;
