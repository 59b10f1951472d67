/** The channel for Matrix: one account is one user of a homeserver. */
import { defineChannel } from "service-gateway/sdk/channel";
import { codes } from "./codes.ts";
import { openConnection } from "./connection.ts";
import { maxBytes } from "./content.ts";
import { checkOptions, options } from "./options.ts";

export default defineChannel({
  id: "matrix",
  listing: {
    name: "Matrix",
    needs: ["an account of the bot on any homeserver, and its access token"],
    publicAddress: "no",
    tried: ["matrix-nio and crabline, unchanged", "a homeserver of ours that makes every fault on demand"],
  },
  version: "1.0.0",
  host: "^0.2.0",
  options,
  credentials: ["accessToken"],
  connectionOptions: ["homeserver", "accessToken"],
  check: checkOptions,
  codes,
  capabilities: {
    maxChars: maxBytes,
    markup: "rich",
    edits: true,
    threads: true,
    reactions: true,
    media: true,
    typing: true,
    // Homeservers remember the key of a message for a day, and Synapse then forgets it.
    repeats: { withinSeconds: 20 * 3_600 },
    keepsWhileAway: "ever",
    messageIds: {
      pattern: "\\$[^\\s,]{1,254}",
      description: "the id of an event, such as $Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92",
    },
  },
  // Clients take a text that begins with a slash for one of their own commands.
  commandPrefix: "!",
  identity: { pattern: "@[^\\s:,]+:[A-Za-z0-9.\\-:\\[\\]]+", groupPattern: "![^\\s,]+" },
  open: openConnection,
});
