/** The channel for IRC: one account is one nick on one network. */
import { defineLineChannel } from "service-gateway/sdk/channel";
import { fold, maxChars } from "./message.ts";
import { options } from "./options.ts";
import { ircProtocol } from "./session.ts";

export default defineLineChannel({
  id: "irc",
  listing: {
    name: "IRC",
    needs: ["a server and a nick, with a password where the nick is registered"],
    publicAddress: "no",
    tried: ["ngircd, unchanged", "a server of ours that makes every fault on demand"],
  },
  version: "1.0.0",
  host: "^0.2.0",
  options,
  capabilities: { maxChars, ephemeral: true, keepsWhileAway: false },
  // Clients take a line that begins with a slash for one of their own commands.
  commandPrefix: "!",
  // A nick that is not bound to an account belongs to the next person once its holder has left.
  identity: { fold, weak: (id) => id.startsWith("~"), pattern: "~?[^\\s,:!@*?~#&]+", groupPattern: "[#&!+][^\\s,:]+" },
  codes: {
    irc_refused: { meaning: "The IRC server did not take a message.", hint: "The detail has the server's words." },
  },
  signsInAs: ({ nick, server, port }) => `${fold(nick)} at ${server}:${port}`,
  protocol: ircProtocol,
});
