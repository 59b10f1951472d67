/**
 * Mail as a source of hooks: presets for mail submitted by other programs, and mailboxes that the gateway watches
 * itself.
 */
import { definePlugin } from "service-gateway/sdk";
import { mailCli } from "./cli.ts";
import { codes } from "./codes.ts";
import { gmail, imap } from "./presets.ts";
import { watchMailboxes } from "./watch.ts";

export default definePlugin({
  id: "mail",
  version: "1.1.0",
  host: "^0.2.0",
  presets: [gmail, imap],
  codes,
  cli: mailCli,
  setup: watchMailboxes,
});
