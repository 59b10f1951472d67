/** Messages as the protocol hands them on. The contract test reads this file, and so does `service-gateway plugins check`. */
import type { ChannelContractOptions, ChannelFixtures } from "service-gateway/testkit";

/** Options of one account, as in the configuration. */
export const options = { server: "127.0.0.1", port: 9, tls: false, name: "bot", password: "password-of-the-bot", rooms: ["#room"] };

const hello = { id: "7", from: "ada", to: "bot", text: "Hello", bot: "bot" };

// Record real messages of your platform here: each correction of `parse` begins with one.
export const fixtures: ChannelFixtures = {
  messages: [
    { raw: hello, expect: { text: "Hello", chat: { id: "ada", kind: "direct" }, sender: { id: "ada", name: "ada" }, messageId: "7" } },
    { raw: { ...hello, to: "#room" }, expect: { chat: { id: "#room", kind: "group", title: "#room" }, mention: false } },
    { raw: { ...hello, to: "#room", text: "bot, hello" }, expect: { text: "hello", mention: true } },
  ],
  own: [{ ...hello, from: "bot" }],
  // The names of this platform never change.
  renamed: [],
  unit: "bytes",
};

/** What the connection has beyond its capabilities: with `pace` in `src/protocol.ts`, write `["admit"]`. */
export const functions: NonNullable<ChannelContractOptions["functions"]> = [];
