/** The channel for IRC: one account is one nick on one network. */
import { createLineChannel, defineChannel } from "service-gateway/sdk/channel";
import { fold, maxChars } from "./message.ts";
import { options } from "./options.ts";
import { ircProtocol } from "./session.ts";

export default defineChannel({
  id: "irc",
  version: "1.0.0",
  host: "^0.1.0",
  options,
  capabilities: { maxChars },
  // A nick that is not bound to an account belongs to the next person once its holder has left.
  identity: { fold, weak: (id) => id.startsWith("~"), pattern: "~?[^\\s,:!@*?~#&]+" },
  codes: {
    irc_refused: { meaning: "The IRC server did not take a message.", hint: "The detail has the server's words." },
    irc_shut_out: {
      meaning: "The IRC server does not let the bot into a channel.",
      hint: "Let it in there, or correct channels and channelKeys.",
    },
  },
  signsInAs: ({ nick, server, port }) => `${fold(nick)} at ${server}:${port}`,
  open: (account) => createLineChannel(account, ircProtocol(account)),
});
