/** The channel as the gateway sees it: who it is, which options an account has, and which protocol it speaks. */
import { Type } from "service-gateway/sdk";
import { checkEncryption, createLineChannel, defineChannel, secretText, serverOptions } from "service-gateway/sdk/channel";
import { maxChars, protocolOf } from "./protocol.ts";

export default defineChannel({
  id: "acme-chat",
  version: "0.1.0",
  host: "^0.1.0",
  options: Type.Object({
    ...serverOptions({ port: 7000 }),
    name: Type.String({ pattern: "^[\\w-]{1,30}$", description: "Name of the bot." }),
    password: Type.Optional(secretText({ description: "Password of the bot." })),
    rooms: Type.Array(Type.String({ pattern: "^#[\\w-]+$" }), { default: [], description: "Rooms that the bot joins." }),
  }),
  capabilities: { maxChars },
  // Two accounts with one name would take each other's messages.
  signsInAs: ({ name, server, port }) => `${name} at ${server}:${port}`,
  check: (options) => checkEncryption(options, [options.password]),
  open: (account) => createLineChannel(account, protocolOf(account.options)),
});
