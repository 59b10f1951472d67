/** The channel for Slack: one account is one app in one workspace. */
import { defineChannel } from "service-gateway/sdk/channel";
import { slackCommands } from "./commands.ts";
import { createConnection } from "./connection.ts";
import { codes } from "./errors.ts";
import { channelPattern, idPattern, list, record, text } from "./fields.ts";
import { checkOptions, options } from "./options.ts";
import { readPosted } from "./receive/posted.ts";
import { backlogHours } from "./receive/seen.ts";
import { buttonLimits, maxChars, platformFields } from "./send/render.ts";

const channel = defineChannel({
  id: "slack",
  listing: {
    name: "Slack",
    needs: ["an app in a workspace, from the manifest that `slack manifest` prints"],
    publicAddress: "optional",
    tried: [
      "Slack's own clients, emulate and crabline, unchanged",
      "a server of ours that makes every fault on demand",
    ],
  },
  version: "1.0.0",
  host: "^0.2.0",
  options,
  codes,
  capabilities: {
    ...{ maxChars, markup: "rich", edits: true, threads: true, reactions: true, media: true, ephemeral: true },
    buttons: buttonLimits,
    keepsWhileAway: { hours: backlogHours },
    messageIds: { pattern: "\\d{9,11}\\.\\d{6}|F[A-Z0-9]+", description: "a time such as 1700000000.123456" },
  },
  // Slack's clients take a line that begins with a slash for one of their own commands.
  commandPrefix: "!",
  platformFields,
  identity: { pattern: idPattern, groupPattern: channelPattern },
  credentials: ["botToken", "appToken"],
  connectionOptions: ["botToken", "appToken", "signingSecret", "team", "apiUrl"],
  environment: { botToken: "SLACK_BOT_TOKEN", appToken: "SLACK_APP_TOKEN" },
  check: checkOptions,
  // For an app in several workspaces: each posts to the one address of the app.
  route: {
    path: "events",
    maxBytes: 1_000_000,
    accountOf({ body }, accounts) {
      const payload = readPosted(body)?.payload ?? {};
      const open = accounts.filter(({ options: { signingSecret } }) => signingSecret !== undefined);
      if (payload.type === "url_verification") return open[0]?.id;
      const [first] = list(payload.authorizations);
      const team = text(record(first)?.team_id) ?? text(payload.team_id) ?? text(record(payload.team)?.id);
      return open.find((account) => account.options.team === team)?.id;
    },
  },
  open: createConnection,
});

export default { ...channel, cli: slackCommands };
