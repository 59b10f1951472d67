/** What may take a channel minutes by the manual is no fault of it: the rules play the time. */
import { type ChannelAccount, defineChannel, Type } from "service-gateway/sdk/channel";
import type { ChannelContractOptions } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";

/** A channel whose platform posts its events, so that nothing but a call every `checkMs` shows that it is away. */
function contractOf(checkMs: number): ChannelContractOptions {
  let isUp = true;
  let account: ChannelAccount<object> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const channel = defineChannel({
    id: "square",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 100 },
    open(opened) {
      account = opened;
      return {
        async start() {
          opened.status({ state: "connected" });
          const check = () => opened.status(isUp ? { state: "connected" } : { state: "waiting", code: "network" });
          timer = setInterval(check, checkMs);
        },
        parse: (raw) => ({ chat: { id: "7", kind: "direct" }, sender: { id: "7" }, text: String(raw) }),
        render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
        send: async () => ({ messageId: "1" }),
        close: async () => clearInterval(timer),
      };
    },
  });
  return {
    channel,
    options: {},
    fixtures: { messages: [], own: [], renamed: [] },
    platform: {
      can: ["away", "back"],
      async open() {
        isUp = true;
        return {
          options: {},
          write: async (text) => void (isUp && (await account?.receive(text))),
          read: () => [],
          fail(failure) {
            isUp = failure === "back";
          },
          close: async () => {},
        };
      },
    },
  };
}

test.each(["life > a code that is reported is registered", "recovery > the account reconnects after an outage"])(
  "a channel that looks for its platform once a minute passes: %s",
  async (title) => {
    const tried = async (checkMs: number) => {
      const options = contractOf(checkMs);
      const rule = contractRules(options).find((one) => one.title === title);
      if (rule === undefined) throw new Error(`There is no rule ${title}.`);
      await tryRule(rule, options, { patienceMs: 300 });
    };
    await tried(60_000);
    await expect(tried(3_600_000)).rejects.toThrow(/the status is still connected/);
  },
);
