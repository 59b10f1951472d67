/**
 * Events as the platform sends them. The contract test reads this file, and so does `service-gateway plugins check`.
 */
import type { ChannelFixtures, OptionalFunction } from "service-gateway/testkit";

/** Options of one account, as in the configuration. */
export const options = { server: "http://127.0.0.1:9", token: "token-of-the-bot" };

/** Functions of the connection that no capability asks for; each adds its rules. */
export const functions: readonly OptionalFunction[] = ["probe"];

const hello = { id: 7, chat: "c1", from: "u1", name: "Ada", text: "Hello", at: 1_760_000_000_000 };

// Record real events of your platform here: each correction of `parse` begins with one.
export const fixtures: ChannelFixtures = {
  messages: [
    {
      raw: hello,
      expect: { text: "Hello", chat: { id: "c1", kind: "direct" }, sender: { id: "u1", name: "Ada" }, messageId: "7" },
    },
    { raw: { ...hello, id: 8, text: "Héllo 👋\nsecond line" }, expect: { text: "Héllo 👋\nsecond line" } },
    { raw: { ...hello, id: 9, text: "Hello!", edits: 7 }, expect: { kind: "edit", text: "Hello!", messageId: "7" } },
    { raw: { ...hello, id: 10, text: "", deletes: 7 }, expect: { kind: "delete", text: "", messageId: "7" } },
  ],
  own: [{ ...hello, from: "bot" }],
  renamed: [[hello, { ...hello, name: "Ada Lovelace" }]],
};
