/**
 * The presets of mail: `{ "messages": [{ "id", "from", "subject", "snippet", "body" }] }`, one run for each message.
 */
import type { PresetDefinition } from "service-gateway/sdk";
import { gmailSettings, imapSettings } from "./mailbox-schema.ts";

const messageTemplate = [
  // What `run` has found out about the sender, followed by an empty line. A gateway that reads the mail itself puts it
  // above the wrapper.
  "{{ origin }}New mail from {{ messages[0].from }}",
  "Subject: {{ messages[0].subject }}",
  "",
  "{{ messages[0].snippet }}",
  "",
  // The notes about files and the like begin with an empty line, or are empty.
  "{{ messages[0].body }}{{ messages[0].notes }}",
].join("\n");

export const gmail: PresetDefinition = {
  id: "gmail",
  path: "gmail",
  settings: gmailSettings,
  mappings: [
    {
      name: "Gmail",
      action: "agent",
      // Watchers submit what has accumulated, often more than one message.
      forEach: "messages",
      // A message without an id gets a session of its own.
      sessionKey: "hook:gmail:{{ messages[0].id }}",
      messageTemplate,
    },
  ],
};

export const imap: PresetDefinition = {
  id: "imap",
  path: "imap",
  settings: imapSettings,
  mappings: [
    {
      name: "Mail",
      action: "agent",
      forEach: "messages",
      // The id contains the name of a folder, which may be any text; a session key may not, so it uses the id's hash.
      sessionKey: "hook:imap:{{ messages[0].session }}",
      messageTemplate,
    },
  ],
};
