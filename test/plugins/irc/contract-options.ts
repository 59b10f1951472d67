/** How the contract is held against the channel: on a server that fails on demand. */
import type { ChannelContractOptions } from "service-gateway/testkit";
import { openScripted } from "./platforms.ts";

const message = { id: "m1", from: "~ada", name: "ada", text: "Hello", at: 1_760_000_000_000, names: ["bot_", "bot"] };
const ada = { name: "ada", username: "ada" };

export const contract: Omit<ChannelContractOptions, "channel"> = {
  options: { nick: "bot", tls: false, everyMs: 1, saslPassword: "correct horse" },
  fixtures: {
    messages: [
      {
        raw: message,
        expect: { text: "Hello", sender: { id: "~ada", ...ada }, chat: { id: "~ada", kind: "direct" }, mention: true },
      },
      {
        raw: { ...message, from: "Ada", address: "ada" },
        expect: { sender: { id: "Ada", ...ada }, chat: { id: "Ada", kind: "direct" } },
      },
      {
        raw: { ...message, room: "#room", text: "BOT: help" },
        expect: { text: "help", chat: { id: "#room", kind: "group", title: "#room" }, mention: true },
      },
      { raw: { ...message, room: "#room", text: "robots" }, expect: { text: "robots", mention: false } },
      { raw: { ...message, room: "#room", text: "bot[]: help" }, expect: { text: "bot[]: help", mention: false } },
    ],
    own: [{ ...message, from: "~bot_", name: "bot_", room: "#room" }],
    bots: [{ ...message, room: "#room", text: "bot: hello", bot: true }],
    renamed: [
      [
        { ...message, from: "ada" },
        { ...message, from: "ada", name: "ada_away" },
      ],
    ],
  },
  functions: ["admit"],
  platform: {
    can: ["away", "cut", "forge", "groups", "hang", "others", "refuse", "reset", "silent"],
    open: openScripted,
  },
};
