/** How the contract is held against the channel: on a server that fails on demand. */
import type { ChannelContractOptions } from "service-gateway/testkit";
import { openScripted } from "./platforms.ts";

const said = { id: "m1", nick: "ada", account: "", target: "bot", me: "bot", text: "Hello", time: "2025-10-09T08:53:20.000Z" };

export const contract: Omit<ChannelContractOptions, "channel"> = {
  options: { nick: "bot", tls: false, everyMs: 1, saslPassword: "correct horse" },
  fixtures: {
    messages: [
      {
        raw: said,
        expect: {
          text: "Hello",
          sender: { id: "~ada", name: "ada", username: "ada" },
          chat: { id: "~ada", kind: "direct" },
          mention: true,
        },
      },
      {
        raw: { ...said, account: "Ada" },
        expect: { sender: { id: "Ada", name: "ada", username: "ada" }, chat: { id: "Ada", kind: "direct" } },
      },
      {
        raw: { ...said, target: "#room", text: "BOT: help" },
        expect: { text: "help", chat: { id: "#room", kind: "group", title: "#room" }, mention: true },
      },
      { raw: { ...said, target: "#room", text: "robots" }, expect: { text: "robots", mention: false } },
      { raw: { ...said, text: "\u0002bold\u000f \u00034,5red\u0003" }, expect: { text: "bold red" } },
      { raw: { ...said, text: "\u0001ACTION waves\u0001" }, expect: { text: "* ada waves" } },
    ],
    own: [{ ...said, nick: "bot", target: "#room" }],
    renamed: [
      [
        { ...said, account: "ada" },
        { ...said, account: "ada", nick: "ada_away" },
      ],
    ],
  },
  functions: ["admit"],
  platform: { can: ["away", "cut", "forge", "hang", "refuse", "reset", "silent"], open: openScripted },
};
