/** The channel `mattermost`: a bot account of a Mattermost server, over WebSocket and REST. */
import { defineChannel } from "service-gateway/sdk/channel";
import { codes } from "./codes.ts";
import { createConnection } from "./connection.ts";
import { checkOptions, options } from "./options.ts";
import { maxChars } from "./send/render.ts";

export default defineChannel({
  id: "mattermost",
  listing: {
    name: "Mattermost",
    needs: ["a bot account on a server of yours, and its token"],
    publicAddress: "optional",
    tried: ["Mattermost's own client and crabline, unchanged", "a server of ours that makes every fault on demand"],
  },
  version: "1.0.0",
  host: "^0.2.0",
  codes,
  options,
  secrets: ["token"],
  credentials: ["token", "tokenFile"],
  secretFiles: { tokenFile: "token" },
  environment: { token: "MATTERMOST_TOKEN" },
  connectionOptions: ["url", "token", "tokenFile", "callbackUrl"],
  check: checkOptions,
  onboarding: {
    steps: [
      "In Mattermost, open the product menu, Integrations, Bot Accounts, Add Bot Account. " +
        "If that is missing, an administrator enables it in System Console, Integrations, Bot Accounts.",
      "The page shows a token once. Copy it, then add the bot to a team and to its channels.",
    ],
    credential: "token",
    name: "token",
    address: "url",
  },
  // The clients take a text that begins with a slash for themselves, so it never arrives.
  commandPrefix: "!",
  identity: { pattern: "[a-z0-9]{26}", groupPattern: "[a-z0-9]{26}" },
  capabilities: ({ callbackUrl, ephemeral }) => ({
    maxChars,
    markup: "rich",
    edits: true,
    threads: true,
    reactions: true,
    media: true,
    buttons: callbackUrl === undefined ? false : { perRow: 5, perMessage: 25, labelChars: 60 },
    ephemeral,
    typing: true,
    // The server remembers `pending_post_id` for 30 s, counted from its own receipt of the first attempt.
    repeats: { withinSeconds: 25 },
    keepsWhileAway: "ever",
    messageIds: { pattern: "[a-z0-9]{26}", description: "26 small letters and digits" },
  }),
  open: createConnection,
});
