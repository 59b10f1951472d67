/** The channel for Discord: one account is one bot. */
import { defineChannel } from "service-gateway/sdk/channel";
import { codes } from "./codes.ts";
import { createConnection } from "./connection.ts";
import { historyHours } from "./history.ts";
import { botOf, checkOptions, options } from "./options.ts";
import { buttonLimits, maxChars, platformFields } from "./render.ts";
import { snowflakePattern } from "./snowflake.ts";

export default defineChannel({
  id: "discord",
  listing: {
    name: "Discord",
    needs: ["a bot of the developer portal with Message Content Intent, without an approval"],
    publicAddress: "no",
    tried: ["discord.js and crabline, unchanged", "a server of ours that makes every fault on demand"],
  },
  version: "1.0.0",
  host: "^0.2.0",
  codes,
  options,
  secrets: ["token"],
  credentials: ["token"],
  signsInAs: ({ token }) => botOf(token),
  check: checkOptions,
  environment: { token: "DISCORD_BOT_TOKEN" },
  onboarding: {
    steps: [
      "Open https://discord.com/developers/applications, choose New Application, then Bot, and switch on " +
        "Message Content Intent.",
      "On the same page, choose Reset Token and copy the token.",
    ],
    credential: "token",
    name: "token",
  },
  identity: { pattern: snowflakePattern, groupPattern: snowflakePattern },
  capabilities: {
    maxChars,
    markup: "rich",
    edits: true,
    threads: true,
    reactions: true,
    media: true,
    buttons: buttonLimits,
    ephemeral: "interactions",
    typing: true,
    typingEverySeconds: 8,
    menu: true,
    // The platform speaks of a few minutes.
    repeats: { withinSeconds: 120 },
    keepsWhileAway: { hours: historyHours },
    messageIds: { pattern: snowflakePattern, description: "an id of Discord, a number of 17 to 20 digits" },
  },
  platformFields,
  open: createConnection,
});
