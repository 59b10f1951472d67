/** The error codes that a device receives when a call is refused. */
import type { CodeDefinition } from "service-gateway/sdk";

export const codes: Readonly<Record<string, CodeDefinition>> = {
  code_invalid: {
    meaning: "The pairing code is wrong, already used or too old.",
    hint: "Send /pair to the bot for a new code.",
  },
  request_unknown: {
    meaning: "The request was denied, has expired, or its token was already picked up.",
    hint: "Ask again with a new code from /pair.",
  },
  requests_full: {
    meaning: "Too many devices wait for approval.",
    hint: "The owner approves or denies the waiting devices: `{command} devices list`.",
  },
};
