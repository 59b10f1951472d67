/** The reaction that says "seen": where its emoji comes from, with three bots in one gateway whose file is edited. */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { GatewayDescription } from "../../core/gateway/gateway.ts";
import botchat from "../../plugins/botchat/index.ts";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { converse, kitchen } from "./conversation.ts";
import { openChannel, people } from "./room.ts";

test("the acknowledgement emoji comes from account, channel, messages, agent or default; empty is none", async () => {
  const bots = ["own", "none", "plain"].map((name, index) => ({
    name,
    token: `${6001 + index}:ack-token-AbCdEf`,
    username: `${name}_bot`,
  }));
  const platform = await createPlatform({ bots: bots.map((bot) => ({ ...bot, privacy: false })) });
  onTestFinished(() => platform.close());
  const [ada = 0] = people(platform);
  const {
    botToken: _own,
    ackReaction: _none,
    ...shared
  } = openChannel(platform, { streamMode: "off" }) as Record<string, unknown>;
  const emojis: Readonly<Record<string, object>> = {
    own: { ackReaction: "🔥" },
    none: { ackReaction: "" },
    plain: {},
  };
  const config = (channel: object, messages: object, identity: object) => ({
    agents: { list: [{ id: "main", identity }] },
    messages,
    channels: {
      botchat: {
        ...shared,
        ...channel,
        accounts: Object.fromEntries(bots.map(({ name, token }) => [name, { botToken: token, ...emojis[name] }])),
      },
    },
  });
  const emoji = { emoji: "🎉" };
  const host = await createTestHost({
    config: config({ ackReaction: "👍" }, { ackReaction: "🤔" }, emoji),
    plugins: [botchat],
    answer: () => "done",
  });
  onTestFinished(() => host.close());
  const answered = async () => {
    const { gateway } = (await (await host.fetch("/gateway/describe")).json()) as {
      readonly gateway: Pick<GatewayDescription, "stats">;
    };
    return gateway.stats.settled.answered;
  };

  let told = 0;
  const reactionTo = async (name: string): Promise<string | undefined> => {
    told += 1;
    platform.calls.clear();
    const asked = await answered();
    platform.act.say(ada, ada, `message ${told}`, { bot: `${name}_bot` });
    await expect.poll(answered).toBe(asked + 1);
    const [call] = platform.calls.list({ method: "setMessageReaction" });
    return (call?.params.reaction as readonly { readonly emoji: string }[] | undefined)?.[0]?.emoji;
  };
  const edited = async (next: Readonly<Record<string, unknown>>, expected: string) => {
    await host.configure(next);
    expect(await reactionTo("plain")).toBe(expected);
  };

  expect([await reactionTo("own"), await reactionTo("plain"), await reactionTo("none")]).toEqual([
    "🔥",
    "👍",
    undefined,
  ]);
  await edited({ channels: { botchat: { ackReaction: undefined } } }, "🤔");
  await edited({ messages: undefined }, "🎉");
  await edited({ agents: { list: [{ id: "main", identity: {} }] } }, "👀");
  expect([await reactionTo("own"), await reactionTo("none")]).toEqual(["🔥", undefined]);
});

test("the acknowledgement emoji is set on the messages that messages.ackReactionScope selects", async () => {
  const options = (ackReactionScope: string) => ({
    channel: { ackReaction: "👍", groups: { "*": { requireMention: false } } },
    config: { messages: { ackReactionScope } },
  });
  const names = async (scope: string, expected: readonly string[]) => {
    const { platform, ada, start, ended } = await converse(options(scope));
    await start();
    const sent = [
      ["direct", platform.act.say(ada, ada, "hello")],
      ["mention", platform.act.say(ada, kitchen, "@e2e_bot hello")],
      ["group", platform.act.say(ada, kitchen, "hello, all")],
    ] as const;
    await ended(3);
    const seen = () =>
      platform.calls
        .list({ method: "setMessageReaction" })
        .map(({ params }) => `${params.chat_id} ${params.message_id}`);
    const acknowledged = () =>
      sent.filter(([, { chat, message_id }]) => seen().includes(`${chat.id} ${message_id}`)).map(([name]) => name);
    await expect.poll(acknowledged, { message: scope }).toEqual(expected);
  };
  await Promise.all([
    names("all", ["direct", "mention", "group"]),
    names("direct", ["direct"]),
    names("group-all", ["mention", "group"]),
    names("group-mentions", ["mention"]),
    names("off", []),
  ]);
});
