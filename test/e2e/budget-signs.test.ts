/** A person whom a budget refuses gets a sign each time, and the operator reads which budget it was. */
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import type { EngineTurn, TurnEvent } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import { onTestFinished } from "../support/own-test.ts";
import { answers, openChannel, openPlatform, people } from "./room.ts";

async function* costs15(turn: EngineTurn): AsyncGenerator<TurnEvent> {
  const call = await turn.spending?.begin({ model: "acme/model", inputTokens: 10, outputTokens: 5 });
  await turn.spending?.end(call?.id ?? "", { inputTokens: 10, outputTokens: 5 });
  yield { type: "text", delta: `heard ${turn.inbound.text}` };
  yield { type: "done" };
}

const told =
  "I have used up what I may spend today. Please write again tomorrow; the owner of this bot can raise the limit.";

async function openChat(channel: object) {
  const platform = await openPlatform();
  const host = await createTestHost({
    plugins: [botchat],
    answer: costs15,
    config: {
      budget: { perDayTokens: 15 },
      channels: { botchat: openChannel(platform, { streamMode: "off", ...channel }) },
    },
  });
  onTestFinished(() => host.close());
  const [, , chen = 0] = people(platform);
  const room = () => [...platform.world.rooms.values()].find(({ chat }) => chat.id === chen);
  const reactions = () =>
    [...(room()?.messages.values() ?? [])].flatMap(({ message_id: id, text }) => {
      const emojis = [...(room()?.reactions.get(id)?.values() ?? [])].flat();
      return emojis.length === 0 ? [] : [[text, ...emojis.map((each) => ("emoji" in each ? each.emoji : each.type))]];
    });
  return { platform, chen, reactions, host };
}

test("a used-up budget is announced in full once an hour, and by its own reaction in between", async () => {
  const { platform, chen, reactions } = await openChat({ ackReaction: "👀" });
  platform.act.say(chen, chen, "one");
  await expect.poll(() => answers(platform, chen)).toEqual(["heard one"]);
  platform.act.say(chen, chen, "two");
  await expect.poll(() => answers(platform, chen)).toEqual(["heard one", told]);
  platform.act.say(chen, chen, "three");
  await expect.poll(reactions).toEqual([
    ["one", "👀"],
    ["two", "👀"],
    ["three", "😴"],
  ]);
  expect(answers(platform, chen)).toHaveLength(2);
});

test("a used-up budget is announced briefly if the account sets no reactions", async () => {
  const { platform, chen, reactions } = await openChat({ reactionLevel: "off" });
  for (const text of ["one", "two", "three"]) {
    platform.act.say(chen, chen, text);
    await expect.poll(() => platform.pending()).toBe(0);
  }
  await expect.poll(() => answers(platform, chen)).toEqual(["heard one", told, "Nothing is left for today."]);
  expect(reactions()).toEqual([]);
});

test("the full budget notice repeats after an hour; the trace names the budget, in the agents' time zone", async () => {
  const timezone = "Pacific/Auckland";
  const host = await createTestHost({
    answer: costs15,
    config: { agents: { defaults: { timezone, budget: { perDayTokens: 15 } } } },
  });
  onTestFinished(() => host.close());
  const hour = new Date(host.now()).toLocaleString("en", { timeZone: timezone, hour: "numeric", hourCycle: "h23" });
  // A day that ends within the hour would begin a new budget.
  if (Number(hour) >= 22) await host.advance(2 * 3_600_000);
  await host.say("one");
  const refused = await host.say("two");
  const decision = refused.decisions.find(({ code }) => code === "budget_exceeded");
  expect(decision?.detail).toMatch(
    /^agents\.defaults\.budget\.perDayTokens: 15 of 15 tokens are used today; .* 00:00 (?:GMT\+1[23]|NZ[SD]T)$/,
  );
  await host.say("three");
  await host.advance(61 * 60_000);
  await host.say("four");
  const texts = host.outbox().flatMap(({ text }) => (text.startsWith("The budget of") ? [] : [text]));
  expect(texts).toEqual(["heard one", told, "Nothing is left for today.", told]);
});

test("/usage without a budget shows today's usage: of all senders to owners, a sender's own to others", async () => {
  const host = await createTestHost({ answer: costs15 });
  onTestFinished(() => host.close());
  await host.say("one");
  await host.say("two", { from: "7" });
  await host.say("/usage");
  await host.say("/usage", { from: "7" });
  expect(host.outbox().map(({ text }) => text)).toEqual([
    "heard one",
    "heard two",
    "All agents, today: 30 tokens. There is no budget here.",
    "Your messages, today: 15 tokens. There is no budget here that you can see.",
  ]);
});
