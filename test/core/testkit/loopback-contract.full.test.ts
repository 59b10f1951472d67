/**
 * The channels without a platform, that of a test host and that of our own tests, keep the contract that strangers are
 * held to.
 */

import { ChannelError, type Json } from "../../../core/sdk/contract.ts";
import { createTestChannel } from "../../../core/testkit/host/loopback.ts";
import { channelContract } from "../../../core/testkit/index.ts";
import { createLoopback } from "../../support/gateway.ts";

let writes = 0;
const loopback = createLoopback({ id: "desk" });
const message = {
  kind: "message",
  chat: { id: "7", kind: "direct" },
  sender: { id: "7", name: "Ada" },
  text: "Hello",
  media: [],
  mention: true,
  timestamp: 1_760_000_000_000,
} as const;
const raw = (more: object) => ({ ...message, ...more }) as unknown as Json;

const fixtures = {
  messages: [
    { raw: raw({}), expect: { text: "Hello", sender: { id: "7", name: "Ada" } } },
    {
      raw: raw({ chat: { ...message.chat, thread: "3" } }),
      expect: { chat: { id: "7", kind: "direct", thread: "3" } as const },
    },
  ],
  // They send to no platform, and none sends anything back.
  own: [],
  renamed: [[raw({}), raw({ sender: { id: "7", name: "Ada Lind" } })] as const],
};

channelContract({ channel: createTestChannel().plugin, options: {}, functions: ["fetchMedia"], fixtures });

/** Whether the channel is open: what is written to a closed one is not handed in. */
let isOpen = false;
const { channel: definition } = loopback.plugin;
if (definition === undefined) throw new Error("the loopback declares no channel");
const watched: typeof definition = {
  ...definition,
  open(account) {
    const connection = definition.open(account);
    isOpen = true;
    const close = async () => {
      isOpen = false;
      await connection.close();
    };
    return { ...connection, close };
  },
};

channelContract({
  skip: [
    {
      test: "declaration > the gateway calls each function of the connection",
      reason: "Tests choose its capabilities, so it has the functions of all of them.",
    },
  ],
  channel: { ...loopback.plugin, channel: watched },
  options: {},
  fixtures,
  platform: {
    can: ["cut", "lasting", "limit", "refuse", "repeat"],
    async open() {
      const from = loopback.sent.length;
      let id = "";
      loopback.beforeSend = () => {};
      return {
        options: {},
        async write(text, { thread = false } = {}) {
          if (!isOpen) return;
          writes += 1;
          id = `written-${writes}`;
          await loopback.say(text, { id, ...(thread && { thread: "3" }) });
        },
        read: ({ thread = false } = {}) =>
          loopback.sent
            .slice(from)
            .flatMap((sent) =>
              sent.chat === message.chat.id && (sent.thread !== undefined) === thread ? [sent.text] : [],
            ),
        async fail(ability) {
          if (ability === "repeat") return void (await loopback.say("Hello", { id }));
          const retryable = ability !== "refuse";
          loopback.beforeSend = () => {
            if (ability !== "refuse") loopback.beforeSend = () => {};
            throw new ChannelError(retryable ? ability : "chat_not_found", {
              retryable,
              fate: ability === "cut" ? "unknown" : "not-sent",
              ...(ability === "limit" && { retryAfterMs: 2_000 }),
            });
          };
        },
        async close() {},
      };
    },
  },
});
