/** The rules of posted events catch what they are meant to catch. */
import { timingSafeEqual } from "node:crypto";
import { defineChannel, type RouteAnswer, Type } from "service-gateway/sdk/channel";
import type { ChannelContractOptions } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";

type Fault = "judges no caller" | "answers once it has started";

/** A channel whose platform posts with a secret in a header. */
function contractOf(fault?: Fault, posts = true): ChannelContractOptions {
  const secret = Buffer.from("secret-4711");
  const channel = defineChannel({
    id: "plaza",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 100 },
    open(account) {
      const answer = () =>
        account.route({
          path: "events",
          async handler({ headers, body, judge }): Promise<RouteAnswer> {
            const given = Buffer.from(headers["x-secret"] ?? "");
            const refused = judge(() => given.length === secret.length && timingSafeEqual(given, secret));
            if (refused !== undefined && fault !== "judges no caller") return refused;
            await account.receive({ text: body.toString() });
            return { status: 204 };
          },
        });
      if (fault !== "answers once it has started") answer();
      return {
        async start() {
          answer();
          account.status({ state: "connected" });
        },
        parse: (raw) => ({ chat: { id: "7", kind: "direct" }, sender: { id: "7" }, text: String(Object(raw).text) }),
        render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
        send: async () => ({ messageId: "1" }),
        close: async () => {},
      };
    },
  });
  return {
    channel,
    options: {},
    fixtures: { messages: [], own: [], renamed: [] },
    platform: {
      can: posts ? ["posts"] : [],
      async open() {
        let address = "";
        const postTo = ({ own }: { readonly own: string }) => {
          address = `${own}events`;
        };
        return {
          options: {},
          ...(posts && { postTo }),
          async write(body) {
            await fetch(address, { method: "POST", body, headers: { "x-secret": String(secret) } });
          },
          read: () => [],
          close: async () => {},
        };
      },
    },
  };
}

const tried = async (title: string, options: ChannelContractOptions) => {
  const rule = contractRules(options).find((one) => one.title === title);
  if (rule === undefined) throw new Error(`There is no rule ${title}.`);
  await tryRule(rule, options, { patienceMs: 300 });
};

test.each<readonly [string, Fault | undefined, RegExp]>([
  ["posted > a stranger who knows the address is refused", "judges no caller", /Judge each caller with request\.judge/],
  ["posted > a message is received while standing by", "answers once it has started", /Call account\.route in open/],
])("%s", async (title, fault, says) => {
  await expect(tried(title, contractOf(fault))).rejects.toThrow(says);
  await tried(title, contractOf());
});

test("an address to which the platform does not post is a missing test", async () => {
  const title = "posted > the platform posts to the addresses of the account";
  await expect(tried(title, contractOf(undefined, false))).rejects.toThrow(/list posts in platform\.can/);
  await tried(title, contractOf());
});
