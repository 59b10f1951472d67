/** Why a mail caused no run. */
import type { CodeDefinition } from "service-gateway/sdk";

export const codes = {
  mail_other_sender: {
    meaning: "The sender of the mail is not in from.",
    hint: "Add the address or its domain to from of the mailbox.",
    outcome: "silent",
  },
  mail_other_subject: {
    meaning: "The subject of the mail does not contain the text required by subject.",
    hint: "Change subject of the mailbox, or remove it.",
    outcome: "silent",
  },
  mail_sender_unverified: {
    meaning: "The mailbox requires verified senders, and the sender of this mail is not verified.",
    hint:
      "Set authservIds to the name that your mail server writes into Authentication-Results, or set " +
      "requireAuth to false.",
    outcome: "silent",
  },
  mail_left_out: {
    meaning: "After a pause more mails were waiting than maxCatchUp allows; the older ones were left out.",
    hint: "Read them in the mailbox, or raise maxCatchUp.",
    outcome: "silent",
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;

export type MailCode = keyof typeof codes;
