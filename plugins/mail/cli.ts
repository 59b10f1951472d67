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
  account("a name of your own for the mailbox"),
  { name: "user", value: "address", summary: "user name, mostly the mail address; its domain may tell the server" },
  { name: "host", value: "name", summary: "IMAP server; known for Gmail, Outlook, Fastmail, iCloud, Yahoo, GMX, WEB.DE and Proton" },
  { name: "port", value: "number", summary: "port of the server (default: 993)" },
  { name: "tls", value: "mode", choices: ["true", "starttls", "false"], summary: "encryption; false only for a server on this machine" },
  { name: "password-env", value: "variable", summary: "environment variable with the password" },
  { name: "password-file", value: "file", summary: "file with the password" },
  { name: "folder", value: "name", repeatable: true, summary: "folder to watch, may be given several times (default: INBOX)" },
  { name: "poll-seconds", value: "seconds", summary: "longest time between two looks" },
  since,
  dryRun,
];

export const mailCli: CliDefinition = {
  name: "webhooks",
  summary: "Set up mailboxes whose mail runs the agent, and look after them.",
  groups: { imap: "Mailboxes that are read by IMAP." },
  commands: [
    {
      name: "imap setup",
      summary: "Check a mailbox step by step and add it to the configuration. Can be run again; what is right is kept.",
      options: setupOptions,
      example: "imap setup --account work --user ada@example.org --host imap.example.org",
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
  ],
};
