/**
 * The channel as the gateway sees it before any of it runs: who it is, what it can do, which options an account
 * has.
 */
import { Type } from "service-gateway/sdk";
import { defineChannel, type Static, secretText } from "service-gateway/sdk/channel";
import { openConnection } from "./connection.ts";
import { maxChars } from "./render.ts";

const options = Type.Object({
  server: Type.String({ minLength: 1, description: "Address of the platform, such as https://chat.example.com." }),
  // The gateway resolves it from a file or a variable, and keeps it out of the log.
  token: secretText({ description: "Token of the bot." }),
});

export type Options = Static<typeof options>;

export default defineChannel({
  id: "acme-chat",
  version: "0.1.0",
  host: "^0.2.0",
  options,
  credentials: ["token"],
  // Plain text. Add what the platform can do beyond it (edits, threads, reactions, media, buttons, typing, menu):
  // each one asks for functions of the connection, and adds tests to the contract.
  capabilities: { maxChars },
  open: openConnection,
});
