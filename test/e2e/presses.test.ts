/** Presses of buttons over the emulated platform: answered at once, but never before the gate was asked. */
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../core/sdk/contract.ts";
import { type Conversation, type ConversationOptions, converse, kitchen, workshop } from "./conversation.ts";

const menu: readonly TurnEvent[] = [
  { type: "text", delta: "choose" },
  { type: "buttons", buttons: [[{ text: "Tea", value: "tea" }]] },
  { type: "done" },
];

/** The first answer is a message with a button. */
async function withButton(
  options: ConversationOptions = {},
  chat?: number,
): Promise<{ place: Conversation; chat: number; message: number }> {
  const place = await converse({
    ...options,
    answer: (turn, count) =>
      count > 1
        ? (options.answer?.(turn, count) ?? "noted")
        : (async function* () {
            yield* menu;
          })(),
  });
  await place.start();
  const where = chat ?? place.ada;
  place.platform.act.say(place.ada, where, "@e2e_bot menu");
  await expect.poll(() => place.messages(where).length).toBe(1);
  return { place, chat: where, message: place.messages(where)[0]?.message_id ?? 0 };
}

const noticed = (place: Conversation, count = 1) => expect.poll(() => place.notices().length).toBe(count);

describe("a press", () => {
  test("is acknowledged silently and becomes a turn with its label and time", async () => {
    const { place, message } = await withButton();
    const before = Date.now();
    const id = place.platform.act.press(place.ada, place.ada, message, "tea");
    await place.asked(2);
    await noticed(place);
    expect(place.notices()).toEqual([{ id, text: undefined }]);
    expect(place.lastAsked()).toContain("callback_data: tea");
    expect(place.turns[1]?.inbound.timestamp).toBeGreaterThanOrEqual(before - 1_000);
  });

  test("on a message too old to be displayed works like any other", async () => {
    const { place, message } = await withButton();
    place.platform.act.press(place.ada, place.ada, message, "tea", { inaccessible: true });
    await place.asked(2);
    expect(place.turns[1]?.inbound).toMatchObject({ kind: "press", messageId: String(message) });
    expect(place.turns[1]?.inbound.timestamp).toBeGreaterThan(Date.now() - 60_000);
  });

  test("on a message too old to be displayed in a topic is checked and answered there", async () => {
    const place = await converse({
      channel: { groups: { "*": {}, [workshop]: { topics: { "1": { enabled: false } } } } },
      answer: (_turn, count) =>
        count > 1
          ? "noted"
          : (async function* () {
              yield* menu;
            })(),
    });
    await place.start();
    const topic = place.platform.act.createTopic(place.ada, workshop, "Paint");
    place.platform.act.say(place.ada, workshop, "@e2e_bot menu", { thread: topic });
    const choose = () => place.messages(workshop).find(({ text }) => text === "choose")?.message_id ?? 0;
    await expect.poll(choose).toBeGreaterThan(0);
    await place.ended(2);
    place.platform.act.press(place.ada, workshop, choose(), "tea", { inaccessible: true });
    await noticed(place);
    expect(place.notices()[0]?.text).toBeUndefined();
    const noted = () => place.messages(workshop).find(({ text }) => text === "noted")?.message_thread_id;
    await expect.poll(noted).toBe(topic);
  });

  test("is acknowledged while a turn of the same chat runs", async () => {
    let release: () => void = () => {};
    const held = new Promise<string>((resolve) => {
      release = () => resolve("at last");
    });
    const { place, message } = await withButton({ answer: (_turn, count) => (count === 2 ? held : "noted") });
    place.platform.act.say(place.ada, place.ada, "think long");
    await place.asked(2);
    place.platform.act.press(place.ada, place.ada, message, "tea");
    await noticed(place);
    expect(place.turns).toHaveLength(2);
    release();
    await place.asked(3);
    expect(place.lastAsked()).toContain("callback_data: tea");
  });

  test("from a refused sender is acknowledged with a notice only", async () => {
    const { place, chat, message } = await withButton(
      { channel: { groupPolicy: "allowlist", groupAllowFrom: ["1001"] } },
      kitchen,
    );
    expect(place.ada).toBe(1001);
    place.platform.act.press(place.bela, chat, message, "tea");
    await noticed(place);
    expect(place.notices()[0]?.text).toBe("You may not use this here.");
    expect(await place.ended(2)).toContain("refused group_sender_not_allowed");
    expect(place.turns).toHaveLength(1);
    expect(place.messages(chat)).toHaveLength(1);
  });

  test.each([
    ["off", undefined, false],
    ["dm", undefined, true],
    ["dm", kitchen, false],
    ["group", undefined, false],
    ["group", kitchen, true],
    ["all", kitchen, true],
    ["allowlist", undefined, true],
  ])("with inlineButtons %s in chat %s is accepted: %s", async (inlineButtons, where, counts) => {
    const { place, chat, message } = await withButton({ channel: { capabilities: { inlineButtons } } }, where);
    const [shown] = place.messages(chat);
    expect(shown?.reply_markup !== undefined).toBe(counts);
    // From before the option said so.
    Object.assign(shown ?? {}, { reply_markup: { inline_keyboard: [[{ text: "Tea", callback_data: "tea" }]] } });
    place.platform.act.press(place.ada, chat, message, "tea");
    await noticed(place);
    expect(place.notices()[0]?.text).toBe(counts ? undefined : "Buttons are switched off here.");
    expect((await place.ended(2))[1]).toBe(counts ? "answered answered" : "silent buttons_excluded");
    if (counts) return;
    const [decision] = (await place.events())[1]?.decisions ?? [];
    expect(decision).toMatchObject({ station: "ingress", verdict: "silent", code: "buttons_excluded" });
    expect(decision).toMatchObject({
      path: "channels.botchat.capabilities.inlineButtons",
      hint: expect.stringMatching(/^Set it to "/),
    });
  });
});
