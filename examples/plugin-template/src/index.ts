/** The channel as the gateway sees it before any of it runs: who it is, what it can do, which options an account has. */
import { Type } from "service-gateway/sdk";
import { defineChannel, type Static } from "service-gateway/sdk/channel";
import { openConnection } from "./connection.ts";
import { maxChars } from "./render.ts";

const options = Type.Object({
  server: Type.String({ minLength: 1, description: "Address of the platform, such as https://chat.example.com." }),
  token: Type.String({ minLength: 1, description: "Token of the bot." }),
});

export type Options = Static<typeof options>;

export default defineChannel({
  id: "acme-chat",
  version: "0.1.0",
  host: "^0.1.0",
  options,
  // The gateway resolves them from files or variables, and keeps them out of the log.
  secrets: ["token"],
  credentials: ["token"],
  // Switch on what the platform can do: each one asks for functions of the connection, and adds tests to the contract.
  capabilities: {
    maxChars,
    markup: "plain",
    edits: false,
    threads: false,
    reactions: false,
    media: false,
    buttons: false,
    typing: false,
    menu: false,
  },
  open: openConnection,
});
