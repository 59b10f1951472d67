/** The channel for IRC: one account is one nick on one network. */
import { isIP } from "node:net";
import { Type } from "service-gateway/sdk";
import { createTokenBucket, defineChannel, keepConnected } from "service-gateway/sdk/channel";
import { fold, maxChars, parseSaid, renderReply } from "./message.ts";
import { createSession } from "./session.ts";

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const isLocal = (server: string) => server === "localhost" || server === "::1" || (isIP(server) === 4 && server.startsWith("127."));

export default defineChannel({
  id: "irc",
  version: "1.0.0",
  host: "^0.1.0",
  options: Type.Object({
    server: Type.String({ minLength: 1, description: "Name or address of the server." }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 6697 }),
    tls: Type.Boolean({ default: true }),
    caFile: text("File with the certificate (PEM) that the server's own is checked against. Default: the public authorities."),
    nick: Type.String({ pattern: "^[A-Za-z\\[\\]\\\\`_^{|}][\\w\\[\\]\\\\`^{|}-]{0,29}$", description: "The bot's nick." }),
    channels: Type.Array(Type.String({ pattern: "^[#&!+][^\\s,:]+$" }), { default: [], description: "Channels that the bot joins." }),
    saslUser: text("Account at the network's services. Default: the nick."),
    saslPassword: text("Its password, for SASL PLAIN."),
    serverPassword: text("Password of the server itself (PASS)."),
    burst: Type.Integer({ minimum: 1, default: 5, description: "Lines that are sent at once." }),
    everyMs: Type.Integer({ minimum: 1, default: 2_000, description: "Milliseconds between the lines after them." }),
  }),
  secrets: ["saslPassword", "serverPassword"],
  capabilities: { maxChars },
  // A nick that is not bound to an account belongs to the next person once its holder has left.
  identity: { fold, weak: (id) => id.startsWith("~"), pattern: "~?[^\\s,:!@*?~#&]+" },
  codes: {
    irc_refused: {
      meaning: "The IRC server did not let the bot in, or did not take a message.",
      hint: "The detail has the server's words.",
    },
  },
  signsInAs: ({ nick, server, port }) => `${fold(nick)} at ${server}:${port}`,
  check({ tls, server, saslPassword, serverPassword }) {
    if (tls || isLocal(server) || (saslPassword ?? serverPassword) === undefined) return [];
    return [
      { option: "tls", message: "is false, so the password would be sent unencrypted", hint: "Set tls to true, or remove the password." },
    ];
  },
  open(account) {
    const { burst, everyMs, nick } = account.options;
    const session = createSession(account);
    const bucket = createTokenBucket({ burst, everyMs, now: account.now });
    return {
      start: () => keepConnected(account, session.connect),
      parse: (raw) => parseSaid(raw, nick),
      render: renderReply,
      admit: (_part, _address, signal) => bucket.take(signal),
      send: (part, { chat }, signal) => session.send(String(part.body), chat, signal),
      close: async () => session.close(),
    };
  },
});
