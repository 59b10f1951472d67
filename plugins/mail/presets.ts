/**
 * The presets of mail: `{ "messages": [{ "id", "from", "subject", "snippet", "body" }] }`, one run for each message.
 */
import type { PresetDefinition } from "service-gateway/sdk";
import { gmailSettings, imapSettings } from "./mailbox-schema.ts";

const head = [
  // What `run` has found out about the sender, followed by an empty line. A gateway that reads the mail itself puts it
  // above the wrapper.
  "{{ origin }}New mail from {{ messages[0].from }}",
  "Subject: {{ messages[0].subject }}",
];
// The notes about files and the like begin with an empty line, or are empty.
const body = "{{ messages[0].body }}{{ messages[0].notes }}";
const withoutSnippet = [...head, "", body].join("\n");
const withSnippet = [...head, "", "{{ messages[0].snippet }}", "", body].join("\n");

const gmailMapping = {
  name: "Gmail",
  action: "agent",
  // Watchers submit what has accumulated, often more than one message.
  forEach: "messages",
  // A message without an id gets a session of its own.
  sessionKey: "hook:gmail:{{ messages[0].id }}",
} as const;

export const gmail: PresetDefinition = {
  id: "gmail",
  path: "gmail",
  settings: gmailSettings,
  mappings: [
    // A mail that the gateway has read itself: the agent need not read its beginning twice.
    {
      ...gmailMapping,
      match: { where: { "messages[0].snippetInBody": true } },
      messageTemplate: withoutSnippet,
    },
    // The snippet of another program may be all that it submits.
    { ...gmailMapping, messageTemplate: withSnippet },
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
      // The snippet is made from the text.
      messageTemplate: withoutSnippet,
    },
  ],
};
