/**
 * Messages as `link.receive` stores them. The contract test reads this file, and so does `service-gateway plugins
 * check`.
 */
import type { ChannelContractOptions, ChannelFixtures } from "service-gateway/testkit";

/** Options of one account, as in the configuration. */
export const options = {
  server: "127.0.0.1",
  port: 9,
  tls: false,
  name: "bot",
  password: "password-of-the-bot",
  rooms: ["#room"],
};

const hello = { id: "7", from: "ada", text: "Hello", names: ["bot"] };

// Record real messages of your platform here: each correction of what is read from them begins with one.
export const fixtures: ChannelFixtures = {
  messages: [
    {
      raw: hello,
      expect: {
        text: "Hello",
        chat: { id: "ada", kind: "direct" },
        sender: { id: "ada", name: "ada" },
        messageId: "7",
      },
    },
    {
      raw: { ...hello, room: "#room" },
      expect: { chat: { id: "#room", kind: "group", title: "#room" }, mention: false },
    },
    { raw: { ...hello, room: "#room", text: "bot, hello" }, expect: { text: "hello", mention: true } },
  ],
  own: [{ ...hello, from: "bot" }],
  // The names of this platform never change.
  renamed: [],
  unit: "bytes",
};

/** What the connection has beyond its capabilities: with a pace, write `["admit"]`. */
export const functions: NonNullable<ChannelContractOptions["functions"]> = [];
