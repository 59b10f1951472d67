/** The channel `botchat`: bots of the Telegram Bot API. */
import { defineChannel } from "service-gateway/sdk/channel";
import { codes } from "./codes.ts";
import { createConnection } from "./connection.ts";
import { checkListeners } from "./intake/listeners.ts";
import { accountOptions, connectionOptions } from "./options.ts";
import { platformFields } from "./send/own-fields.ts";
import { messageLimit } from "./send/render.ts";
import { checkOptions, signsInAs } from "./token.ts";

export default defineChannel({
  id: "botchat",
  platform: "Telegram",
  listing: {
    name: "Telegram",
    needs: ["a token of @BotFather, without an approval"],
    publicAddress: "optional",
    tried: ["the emulated Bot API server of the demo, whose messages and errors follow the published API"],
  },
  version: "1.0.0",
  host: "^0.2.0",
  codes,
  options: accountOptions,
  secrets: ["botToken", "webhookSecret"],
  credentials: ["botToken", "tokenFile"],
  signsInAs,
  check: (options, around) => [...checkOptions(options), ...checkListeners(options, around)],
  connectionOptions,
  secretFiles: { tokenFile: "botToken" },
  environment: { botToken: "BOTCHAT_BOT_TOKEN" },
  onboarding: {
    steps: [
      "In Telegram, write /newbot to @BotFather (https://t.me/BotFather) and choose a name for your bot.",
      "BotFather replies with a token, such as 123456789:AAE... Copy it.",
    ],
    credential: "botToken",
    name: "token",
    address: "apiRoot",
  },
  identity: { prefixes: ["tg", "telegram"], pattern: "\\d+", groupPattern: "-?\\d{1,20}" },
  capabilities: {
    maxChars: messageLimit,
    markup: "rich",
    edits: true,
    threads: true,
    reactions: true,
    media: true,
    buttons: true,
    typing: true,
    menu: true,
    stickers: true,
    keepsWhileAway: { hours: 24 },
    messageIds: { pattern: "[1-9][0-9]{0,15}", description: "a whole number from 1 on" },
  },
  platformFields,
  open: createConnection,
});
