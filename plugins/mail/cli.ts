/**
 * The commands of the mail plugin. Each imports its code when it runs, because a gateway loads this file at every
 * start.
 */
import type { CliCommand, CliDefinition } from "service-gateway/sdk";

type Option = NonNullable<CliCommand["options"]>[number];

const account = (summary: string): Option => ({ name: "account", value: "name", summary });
const dryRun: Option = { name: "dry-run", summary: "change nothing, and print what would change" };
const since: Option = {
  name: "since",
  value: "time",
  summary: "how far back to begin at the first start: 30m, 2h or 2d",
};
const url: Option = {
  name: "url",
  value: "address",
  summary: "full URL of the webhook that receives the mail (default: the gateway running here)",
};

const setupOptions: readonly Option[] = [
  account("a name of your own for the mailbox (default: the part of the address before the @)"),
  { name: "user", value: "address", summary: "user name, mostly the mail address; its domain may identify the server" },
  {
    name: "host",
    value: "name",
    summary: "IMAP server; known for Gmail, Outlook, Fastmail, iCloud, Yahoo, GMX, WEB.DE and Proton",
  },
  { name: "port", value: "number", summary: "port of the server (default: 993)" },
  {
    name: "tls",
    value: "mode",
    choices: ["true", "starttls", "false"],
    summary: "encryption; false only for a server on this machine",
  },
  { name: "password-env", value: "variable", summary: "environment variable with the password" },
  { name: "password-file", value: "file", summary: "file with the password" },
  { name: "new-password", summary: "ask for the password at the terminal, even if one is set" },
  {
    name: "folder",
    value: "name",
    repeatable: true,
    summary: "folder to watch, may be given several times (default: INBOX)",
  },
  { name: "poll-seconds", value: "seconds", summary: "longest time between two checks" },
  since,
  dryRun,
];

const address: Option = { name: "account", value: "address", summary: "mail address of the mailbox" };

const gmailOptions: readonly Option[] = [
  address,
  {
    name: "credentials",
    value: "file",
    summary: "JSON of an OAuth client of the type Desktop app, from the Google Cloud console",
  },
  {
    name: "service-account",
    value: "file",
    summary: "JSON key of a service account with domain-wide delegation, in place of credentials",
  },
  {
    name: "mode",
    value: "mode",
    choices: ["poll", "pull", "push"],
    summary: "how new mail is detected (default: poll, which needs no topic)",
  },
  { name: "label", value: "name", summary: "label to watch (default: INBOX)" },
  { name: "project", value: "id", summary: "Google Cloud project (default: that of the credentials)" },
  { name: "topic", value: "name", summary: "pull and push: topic that Gmail publishes to; created if missing" },
  { name: "subscription", value: "name", summary: "pull and push: subscription to the topic; created if missing" },
  {
    name: "push-endpoint",
    value: "address",
    summary: "push: public address that Google posts to, ending in /plugins/mail/gmail/NAME",
  },
  { name: "push-service-account", value: "address", summary: "push: service account that Google posts as" },
  since,
  { name: "no-browser", summary: "do not open a browser; print the URL" },
  dryRun,
];

export const mailCli: CliDefinition = {
  name: "webhooks",
  summary: "Set up and manage mailboxes whose mail runs the agent.",
  groups: { imap: "Mailboxes that are read by IMAP.", gmail: "Mailboxes of Gmail that are read by Google's API." },
  commands: [
    {
      name: "imap setup",
      summary:
        "Check a mailbox step by step and add it to the configuration. Can be run again; correct settings are kept.",
      options: setupOptions,
      example: "imap setup --user ada@example.org --host imap.example.org",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/imap/setup.ts")).setupImap(call),
    },
    {
      name: "imap teardown",
      summary: "Remove a mailbox from the configuration. Nothing in the mailbox changes.",
      options: [account("the mailbox"), dryRun],
      example: "imap teardown --account work",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/imap/setup.ts")).teardownImap(call),
    },
    {
      name: "imap status",
      summary: "Show the state of each mailbox, as reported by the running gateway.",
      options: [account("only this mailbox")],
      example: "imap status --json",
      run: async (call) => (await import("./setup/imap/watch.ts")).statusOfImap(call),
    },
    {
      name: "imap run",
      summary:
        "Watch a mailbox in the foreground and submit its mail over HTTP. Refused while a gateway watches the mailbox.",
      options: [account("the mailbox"), url],
      example: "imap run --account work --url https://gateway.example.org/hooks/imap",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/imap/watch.ts")).runImap(call),
    },
    {
      name: "gmail setup",
      summary:
        "Get the permission to read a mailbox of Gmail, check it and add it to the configuration. Can be run again.",
      options: gmailOptions,
      example: "gmail setup --account ada@gmail.com --credentials ./credentials.json",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/gmail/setup.ts")).setupGmail(call),
    },
    {
      name: "gmail teardown",
      summary:
        "Undo the setup: delete what it created at Google, revoke the permission, and remove the mailbox " +
        "from the configuration.",
      options: [address, dryRun],
      example: "gmail teardown --account ada@gmail.com",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/gmail/teardown.ts")).teardownGmail(call),
    },
    {
      name: "gmail status",
      summary: "Show the state of each mailbox, as reported by the running gateway.",
      options: [account("only this mailbox")],
      example: "gmail status --json",
      run: async (call) => (await import("./setup/gmail/watch.ts")).statusOfGmail(call),
    },
    {
      name: "gmail run",
      summary:
        "Watch a mailbox in the foreground and submit its mail over HTTP. Refused while a gateway watches the mailbox.",
      options: [address, url],
      example: "gmail run --account ada@gmail.com --url https://gateway.example.org/hooks/gmail",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/gmail/watch.ts")).runGmail(call),
    },
  ],
};
