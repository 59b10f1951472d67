/** The channel as the gateway sees it: who it is, and which protocol it speaks. */
import { defineLineChannel } from "service-gateway/sdk/channel";
import { options } from "./options.ts";
import { protocolOf } from "./protocol.ts";

export default defineLineChannel({
  id: "acme-chat",
  version: "0.1.0",
  host: "^0.2.0",
  options,
  // Bytes of the longest text that the server takes.
  capabilities: { maxChars: 400 },
  // Reasons of your own, for `link.refuse` and `link.reject`. `node_modules/service-gateway/core/CODES.md` has the
  // gateway's.
  codes: {
    name_locked: { meaning: "The server has locked the bot's name.", hint: "Ask the server's operator to unlock it." },
  },
  // Two accounts with one name would take each other's messages.
  signsInAs: ({ name, server, port }) => `${name} at ${server}:${port}`,
  protocol: ({ options: account }) => protocolOf(account),
});
