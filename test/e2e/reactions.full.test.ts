/**
 * Reactions over the emulated platform: told with the next turn of the chat's session, to whom the gate lets in, as the
 * option says.
 */
import { describe, expect, test } from "vitest";
import { type Conversation, type ConversationOptions, converse, kitchen, workshop } from "./conversation.ts";

const botId = 4242;

/** The agent has answered once in the chat, and is administrator there, as the platform asks for reactions. */
async function answeredOnce(
  chat?: number,
  options: ConversationOptions = {},
): Promise<{ place: Conversation; chat: number; own: number }> {
  const place = await converse(options);
  const where = chat ?? place.ada;
  if (where < 0) place.platform.act.setMember(where, botId, "administrator");
  await place.start();
  place.platform.act.say(place.ada, where, "@e2e_bot hello");
  await expect.poll(() => place.messages(where).length).toBe(1);
  return { place, chat: where, own: place.messages(where)[0]?.message_id ?? 0 };
}

const lastEnd = (place: Conversation, end: string) => expect.poll(async () => (await place.ends()).at(-1)).toBe(end);

const again = async (place: Conversation, chat: number, thread?: number) => {
  const before = place.turns.length;
  place.platform.act.say(place.ada, chat, "@e2e_bot and now?", thread === undefined ? {} : { thread });
  await place.asked(before + 1);
  return place.lastAsked();
};

describe("a reaction to a message of the bot", () => {
  test("starts no turn and is shown once with the next one", async () => {
    const { place, chat, own } = await answeredOnce();
    place.platform.act.react(place.ada, chat, own, ["👍"]);
    expect(await place.ended(2)).toEqual(["answered answered", "silent reaction_noted"]);
    expect((await place.events())[1]?.decisions.at(-1)).toMatchObject({
      station: "turn",
      detail: expect.stringContaining("next turn"),
    });
    expect(place.turns).toHaveLength(1);
    const told = await again(place, chat);
    expect(told).toMatch(/^\[event id:1001 \w{3} [\d-]+ [\d:]+ UTC\] Reaction added: 👍 by Ada .*\n\n\[botchat Ada/);
    expect(told).toContain(`on message ${own}`);
    // From then on it is part of the conversation, and not told anew.
    expect(await again(place, chat)).not.toContain("Reaction added");
    expect(place.turns.at(-1)?.messages.filter(({ text }) => text.includes("Reaction added"))).toHaveLength(1);
  });

  test("in a group is shown to the group's session without a mention", async () => {
    const { place, chat, own } = await answeredOnce(kitchen);
    place.platform.act.react(place.bela, chat, own, ["🔥"]);
    await lastEnd(place, "silent reaction_noted");
    place.platform.act.say(place.ada, place.ada, "elsewhere");
    await place.asked(2);
    expect(place.lastAsked()).not.toContain("Reaction added");
    expect(await again(place, chat)).toContain("Reaction added: 🔥 by Bela");
  });

  test("in a forum is shown in General for a message of any topic", async () => {
    const place = await converse();
    place.platform.act.setMember(workshop, botId, "administrator");
    await place.start();
    const topic = place.platform.act.createTopic(place.ada, workshop, "Paint");
    place.platform.act.say(place.ada, workshop, "@e2e_bot hello", { thread: topic });
    const own = () => place.messages(workshop).find(({ text }) => text === "answer 1")?.message_id ?? 0;
    await expect.poll(own).toBeGreaterThan(0);
    place.platform.act.react(place.ada, workshop, own(), ["👍"]);
    await expect.poll(() => place.ends()).toContain("silent reaction_noted");
    expect(await again(place, workshop, topic)).not.toContain("Reaction added");
    expect(await again(place, workshop)).toContain("Reaction added: 👍 by Ada");
  });

  test("that is removed again is not shown", async () => {
    const { place, chat, own } = await answeredOnce();
    place.platform.act.react(place.ada, chat, own, ["👍"]);
    place.platform.act.react(place.ada, chat, own, []);
    expect(await place.ended(3)).toEqual(["answered answered", "silent reaction_noted", "silent reaction_removed"]);
  });

  test("from a refused sender is not shown", async () => {
    const { place, chat, own } = await answeredOnce(kitchen, {
      channel: { groupPolicy: "allowlist", groupAllowFrom: ["1001"] },
    });
    place.platform.act.react(place.bela, chat, own, ["👍"]);
    await lastEnd(place, "refused group_sender_not_allowed");
    expect(await again(place, chat)).not.toContain("Reaction added");
  });

  test("is shown after a restart", async () => {
    const place = await converse();
    const gateway = await place.start();
    place.platform.act.say(place.ada, place.ada, "hello");
    await expect.poll(() => place.messages(place.ada).length).toBe(1);
    place.platform.act.react(place.ada, place.ada, place.messages(place.ada)[0]?.message_id ?? 0, ["👍"]);
    await lastEnd(place, "silent reaction_noted");
    await gateway.close();
    await place.start();
    expect(await again(place, place.ada)).toContain("Reaction added");
  });

  test("is shown again if the turn that showed it failed", async () => {
    const { place, chat, own } = await answeredOnce(undefined, {
      answer: (_turn, count) => {
        if (count === 2) throw new Error("the model is away");
        return `answer ${count}`;
      },
    });
    place.platform.act.react(place.ada, chat, own, ["👍"]);
    await place.ended(2);
    expect(await again(place, chat)).toContain("Reaction added");
    await place.ended(3);
    expect(await again(place, chat)).toContain("Reaction added");
    expect(place.turns[2]?.messages.filter(({ text }) => text.includes("Reaction added"))).toHaveLength(1);
  });
});

describe("reactionNotifications", () => {
  test("own covers every message of the bot: growing answers, long ones, command replies and apologies", async () => {
    const long = Array.from({ length: 30 }, (_, index) => `word ${index}`).join("\n\n");
    const place = await converse({
      channel: { streamMode: "partial", textChunkLimit: 100 },
      answer: (_turn, count) => {
        if (count === 2) throw new Error("the model is away");
        return long;
      },
    });
    await place.start();
    for (const text of ["hello", "/whoami", "again"]) {
      const before = (await place.ends()).length;
      place.platform.act.say(place.ada, place.ada, text);
      await place.ended(before + 1);
    }
    const own = place.messages(place.ada).map(({ message_id }) => message_id);
    expect(own.length).toBeGreaterThan(4);
    const before = (await place.ends()).length;
    for (const message of own) place.platform.act.react(place.ada, place.ada, message, ["👍"]);
    expect((await place.ended(before + own.length)).slice(before)).toEqual(own.map(() => "silent reaction_noted"));
  });

  test.each([
    ["off", true, "silent reactions_off"],
    ["own", true, "silent reaction_noted"],
    ["own", false, "silent reaction_to_others"],
    ["all", false, "silent reaction_noted"],
  ])("with %s, a reaction to a message of the bot (%s) ends %s", async (reactionNotifications, toOwn, end) => {
    const { place, chat, own } = await answeredOnce(undefined, { channel: { reactionNotifications } });
    const message = toOwn ? own : place.platform.act.say(place.ada, chat, "mine").message_id;
    if (!toOwn) await place.ended(2);
    place.platform.act.react(place.ada, chat, message, ["👍"]);
    await lastEnd(place, end);
    expect((await again(place, chat)).includes("Reaction added")).toBe(end.endsWith("noted"));
  });
});
