/** Codes of actions: why a tool call, `message` on the command line or `POST /gateway/actions` did nothing. */
import type { CodeTable } from "./code.ts";

export const actionCodes = {
  action_off: {
    meaning: "The action is switched off for this account.",
    hint: "Set it to true under actions of the account.",
  },
  action_unknown: { meaning: "The action does not exist.", hint: "Use one of the actions that the error lists." },
  action_waits: {
    meaning: "The message waits to be sent, because the platform does not answer or asks to wait.",
    hint: "",
  },
  buttons_off: {
    meaning: "Buttons are switched off for this chat.",
    hint: "Set capabilities.inlineButtons of the account.",
  },
  edit_too_long: {
    meaning: "The new text would not fit into one message.",
    hint: "Send a shorter text, or a new message.",
  },
  invalid_arguments: {
    meaning: "The arguments of the action are invalid.",
    hint: "Correct the argument that the error names.",
  },
  not_supported: {
    meaning: "The channel does not support the action.",
    hint: "Use another action or another channel.",
  },
  nothing_sent: { meaning: "Nothing was sent.", hint: "Read the detail." },
  nothing_to_send: { meaning: "The message contains nothing that users would see.", hint: "Send a text or a file." },
  recipient_not_allowed: {
    meaning: "The agent may not write to this chat.",
    hint: "Add the chat to the account's groups or allowFrom.",
  },
  too_many_files: { meaning: "A reply has at most 20 files.", hint: "Send the others in another message." },
} as const satisfies CodeTable;
