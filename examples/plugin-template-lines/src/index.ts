/** The channel as the gateway sees it: who it is, and which protocol it speaks. */
import { createLineChannel, defineChannel } from "service-gateway/sdk/channel";
import { options } from "./options.ts";
import { maxChars, protocolOf } from "./protocol.ts";

export default defineChannel({
  id: "acme-chat",
  version: "0.1.0",
  host: "^0.1.0",
  options,
  capabilities: { maxChars },
  // Reasons of your own, for `ChannelError` and the state of an account. `node_modules/service-gateway/core/CODES.md` has the gateway's.
  codes: {
    removed_from_room: { meaning: "The server removed the bot from a room.", hint: "Let it in there, or correct rooms." },
  },
  // Two accounts with one name would take each other's messages.
  signsInAs: ({ name, server, port }) => `${name} at ${server}:${port}`,
  open: (account) => createLineChannel(account, protocolOf(account.options)),
});
