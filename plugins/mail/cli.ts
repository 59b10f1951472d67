/** The commands of mail. Each imports its code when it runs: a gateway loads this file at every start. */
import type { CliCommand, CliDefinition } from "service-gateway/sdk";

type Option = NonNullable<CliCommand["options"]>[number];

const account = (summary: string): Option => ({ name: "account", value: "name", summary });
const dryRun: Option = { name: "dry-run", summary: "change nothing, and print what would change" };
const since: Option = { name: "since", value: "time", summary: "how far back reading begins at the first start: 30m, 2h or 2d" };
const url: Option = {
  name: "url",
  value: "address",
  summary: "whole address of the webhook that takes the mail (default: that of the gateway that runs here)",
};

const setupOptions: readonly Option[] = [
  account("a name of your own for the mailbox (default: the part of the address before the @)"),
  { name: "user", value: "address", summary: "user name, mostly the mail address; its domain may tell the server" },
  { name: "host", value: "name", summary: "IMAP server; known for Gmail, Outlook, Fastmail, iCloud, Yahoo, GMX, WEB.DE and Proton" },
  { name: "port", value: "number", summary: "port of the server (default: 993)" },
  { name: "tls", value: "mode", choices: ["true", "starttls", "false"], summary: "encryption; false only for a server on this machine" },
  { name: "password-env", value: "variable", summary: "environment variable with the password" },
  { name: "password-file", value: "file", summary: "file with the password" },
  { name: "new-password", summary: "ask for the password at the terminal, also where one is set" },
  { name: "folder", value: "name", repeatable: true, summary: "folder to watch, may be given several times (default: INBOX)" },
  { name: "poll-seconds", value: "seconds", summary: "longest time between two looks" },
  since,
  dryRun,
];

const address: Option = { name: "account", value: "address", summary: "mail address of the mailbox" };

const gmailOptions: readonly Option[] = [
  address,
  { name: "credentials", value: "file", summary: "JSON of an OAuth client of the type Desktop app, from the Google Cloud console" },
  { name: "service-account", value: "file", summary: "JSON key of a service account with domain-wide delegation, in place of credentials" },
  {
    name: "mode",
    value: "mode",
    choices: ["poll", "pull", "push"],
    summary: "how new mail is noticed (default: poll, which needs no topic)",
  },
  { name: "label", value: "name", summary: "label to watch (default: INBOX)" },
  { name: "project", value: "id", summary: "Google Cloud project (default: that of the credentials)" },
  { name: "topic", value: "name", summary: "pull and push: topic that Gmail publishes to; made where it is missing" },
  { name: "subscription", value: "name", summary: "pull and push: subscription to the topic; made where it is missing" },
  { name: "push-endpoint", value: "address", summary: "push: public address that Google posts to, ending in /plugins/mail/gmail/NAME" },
  { name: "push-service-account", value: "address", summary: "push: service account that Google posts as" },
  since,
  { name: "no-browser", summary: "open no browser; the address is printed" },
  dryRun,
];

export const mailCli: CliDefinition = {
  name: "webhooks",
  summary: "Set up mailboxes whose mail runs the agent, and look after them.",
  groups: { imap: "Mailboxes that are read by IMAP.", gmail: "Mailboxes of Gmail that are read by Google's API." },
  commands: [
    {
      name: "imap setup",
      summary: "Check a mailbox step by step and add it to the configuration. Can be run again; what is right is kept.",
      options: setupOptions,
      example: "imap setup --user ada@example.org --host imap.example.org",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/imap.ts")).setupImap(call),
    },
    {
      name: "imap teardown",
      summary: "Remove a mailbox from the configuration. Nothing in the mailbox changes.",
      options: [account("the mailbox"), dryRun],
      example: "imap teardown --account work",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/imap.ts")).teardownImap(call),
    },
    {
      name: "imap status",
      summary: "Show how each mailbox is, as the running gateway reports it.",
      options: [account("only this mailbox")],
      example: "imap status --json",
      run: async (call) => (await import("./setup/imap-watch.ts")).statusOfImap(call),
    },
    {
      name: "imap run",
      summary: "Watch a mailbox in the foreground and hand its mail over by HTTP. Refused while a gateway watches the mailbox.",
      options: [account("the mailbox"), url],
      example: "imap run --account work --url https://gateway.example.org/hooks/imap",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/imap-watch.ts")).runImap(call),
    },
    {
      name: "gmail setup",
      summary: "Get the permission to read a mailbox of Gmail, check it and add it to the configuration. Can be run again.",
      options: gmailOptions,
      example: "gmail setup --account ada@gmail.com --credentials ./credentials.json",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/gmail.ts")).setupGmail(call),
    },
    {
      name: "gmail teardown",
      summary: "Take back what setup has made: at Google, the permission, and the mailbox in the configuration.",
      options: [address, dryRun],
      example: "gmail teardown --account ada@gmail.com",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/gmail-teardown.ts")).teardownGmail(call),
    },
    {
      name: "gmail status",
      summary: "Show how each mailbox is, as the running gateway reports it.",
      options: [account("only this mailbox")],
      example: "gmail status --json",
      run: async (call) => (await import("./setup/gmail-watch.ts")).statusOfGmail(call),
    },
    {
      name: "gmail run",
      summary: "Watch a mailbox in the foreground and hand its mail over by HTTP. Refused while a gateway watches the mailbox.",
      options: [address, url],
      example: "gmail run --account ada@gmail.com --url https://gateway.example.org/hooks/gmail",
      timeoutSeconds: 0,
      prepares: true,
      run: async (call) => (await import("./setup/gmail-watch.ts")).runGmail(call),
    },
  ],
};
