/** Other bots in a group: they are answered only where they are listed and name this bot, and never without end. */
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { describe, expect, test } from "vitest";
import botchat from "../../plugins/botchat/index.ts";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { run, temporaryHome } from "../core/cli/command.ts";
import { onTestFinished } from "../support/own-test.ts";
import { endsOf, kitchen } from "./conversation.ts";
import { openChannel } from "./room.ts";

const ours = { token: "4242:e2e-bot-token-AbCdEf", username: "e2e_bot", name: "E2E", privacy: false };
const other = { token: "4343:e2e-bot-token-GhIjKl", username: "other_bot", name: "Other", privacy: false };

interface Group {
  readonly platform: Platform;
  readonly host: TestHost;
  readonly ada: number;
  /** How often the agent was asked. */
  turns(): number;
}

async function open(channel: object, { accounts }: { readonly accounts?: object } = {}): Promise<Group> {
  const platform = await createPlatform({ bots: [ours, other] });
  onTestFinished(() => platform.close());
  let turns = 0;
  const host = await createTestHost({
    plugins: [botchat],
    config: {
      channels: {
        botchat: openChannel(platform, {
          groupPolicy: "open",
          streamMode: "off",
          ...channel,
          ...(accounts !== undefined && { accounts }),
        }),
      },
    },
    answer() {
      turns += 1;
      return `answer ${turns}`;
    },
  });
  onTestFinished(() => host.close());
  return { platform, host, ada: [...platform.world.people.keys()][0] ?? 0, turns: () => turns };
}

/** The other bot, as its own program runs it: it answers every message that it sees. */
function runOtherBot(platform: Platform, answer: (messageId: number) => object): void {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const call = async (method: string, body: object) => {
    const response = await fetch(`${platform.url}/bot${other.token}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: stop.signal,
    });
    return (await response.json()) as {
      readonly result: readonly { readonly update_id: number; readonly message?: Sent }[];
    };
  };
  const loop = async () => {
    let offset = 0;
    for (let rounds = 0; rounds < 500 && !stop.signal.aborted; rounds += 1) {
      const { result } = await call("getUpdates", { offset, timeout: 1 });
      for (const { update_id, message } of result) {
        offset = update_id + 1;
        if (message?.from.is_bot === true)
          await call("sendMessage", { chat_id: kitchen, ...answer(message.message_id) });
      }
    }
  };
  loop().catch(() => {});
}

interface Sent {
  readonly message_id: number;
  readonly from: { readonly is_bot: boolean };
}

/** Long enough for two bots to exchange dozens of messages. */
const exchange = () => new Promise((resolve) => setTimeout(resolve, 1_500));

const reasons = async ({ host }: Group): Promise<string> => (await endsOf(host.directory)).join("\n");

describe("another bot in an open group", () => {
  test("gets no answer, even if it replies to every message of this bot", async () => {
    const group = await open({ groups: { "*": { requireMention: false } } });
    runOtherBot(group.platform, (id) => ({ text: "go on", reply_parameters: { message_id: id } }));
    group.platform.act.say(group.ada, kitchen, "hello");
    await expect.poll(() => reasons(group)).toContain("bot_not_listed");
    await exchange();
    expect(group.turns()).toBe(1);
    const doctor = await run(["doctor", "--config", group.host.configFile], { home: temporaryHome() });
    expect(doctor.out).toMatch(/other bots.*the bot 4343 wrote/s);
  });

  test("that is listed gets no answer to a reply, only to a text that mentions this bot", async () => {
    const group = await open({ groupAllowFrom: ["*", "4343"], groups: { "*": {} } });
    runOtherBot(group.platform, (id) => ({ text: "go on", reply_parameters: { message_id: id } }));
    group.platform.act.say(group.ada, kitchen, "@e2e_bot hello");
    await expect.poll(() => reasons(group)).toContain("mention_required");
    await exchange();
    expect(group.turns()).toBe(1);
  });

  test("that is listed and mentions this bot gets three turns, and more after a person has written", async () => {
    const group = await open({ groupAllowFrom: ["*", "4343"], groups: { "*": {} } });
    runOtherBot(group.platform, () => ({ text: "@e2e_bot go on" }));
    group.platform.act.say(group.ada, kitchen, "@e2e_bot hello");
    await expect.poll(() => reasons(group)).toContain("bot_turns_used");
    await exchange();
    expect(group.turns()).toBe(4);
    group.platform.act.say(group.ada, kitchen, "I am still here");
    group.platform.act.say(group.ada, kitchen, "@e2e_bot hello again");
    await expect.poll(group.turns).toBe(8);
    await exchange();
    expect(group.turns()).toBe(8);
  });

  test("cannot use owner commands, even if its id is listed", async () => {
    const group = await open({
      allowFrom: ["4343"],
      dmPolicy: "allowlist",
      groupAllowFrom: ["*", "4343"],
      groups: { "*": {} },
    });
    runOtherBot(group.platform, () => ({ text: "/config@e2e_bot set channels.botchat.ackReaction x" }));
    group.platform.act.say(group.ada, kitchen, "@e2e_bot hello");
    await expect.poll(() => reasons(group)).toContain("owner_required");
  });
});

describe("two accounts of one gateway in one group", () => {
  test.each([true, false])("do not answer each other (requireMention: %s)", async (requireMention) => {
    const accounts = { one: { botToken: ours.token }, two: { botToken: other.token } };
    const group = await open(
      { botToken: undefined, replyToMode: "all", groups: { "*": { requireMention } } },
      { accounts },
    );
    group.platform.act.say(group.ada, kitchen, "@e2e_bot @other_bot hello");
    await expect.poll(() => reasons(group)).toContain("own_account");
    await exchange();
    expect(group.turns()).toBe(2);
  });
});
