/**
 * What an open group lets strangers do: talk when they mention the bot. Commands and buttons are for listed senders and
 * owners.
 */
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../core/sdk/contract.ts";
import { type Conversation, converse, kitchen, workshop } from "./conversation.ts";

const menu: readonly TurnEvent[] = [
  { type: "text", delta: "choose" },
  { type: "buttons", buttons: [[{ text: "Tea", value: "tea" }]] },
  { type: "done" },
];

/** Ada (1001) is listed in the kitchen only; Bela (1002) is an owner where a test says so. */
const open = (more: { readonly owner?: boolean; readonly channel?: object } = {}) =>
  converse({
    config: { commands: { ownerAllowFrom: more.owner === true ? ["1002"] : [] } },
    channel: {
      allowFrom: ["9999"],
      dmPolicy: "allowlist",
      groups: { "*": {}, [kitchen]: { allowFrom: ["1001"] } },
      ...more.channel,
    },
    answer: (_turn, count) =>
      count > 1
        ? "noted"
        : (async function* () {
            yield* menu;
          })(),
  });

async function ends(place: Conversation, count: number): Promise<readonly string[]> {
  return await place.ended(count);
}

describe("a command in an open group", () => {
  test("is for listed senders and owners; /help, /whoami and /status are for everyone", async () => {
    const place = await open();
    await place.start();
    const say = (sender: number, chat: number, text: string) => place.platform.act.say(sender, chat, text);
    const rows: readonly (readonly [number, number, string, string])[] = [
      [place.bela, kitchen, "/new@e2e_bot", "refused command_sender_not_listed"],
      [place.bela, kitchen, "@e2e_bot hello", "answered answered"],
      [place.bela, kitchen, "/status@e2e_bot", "answered answered"],
      [place.bela, kitchen, "/whoami@e2e_bot", "answered answered"],
      [place.bela, kitchen, "/help@e2e_bot", "answered answered"],
      [place.ada, kitchen, "/new@e2e_bot", "answered answered"],
      // The list of a group holds in that group.
      [place.ada, workshop, "/new@e2e_bot", "refused command_sender_not_listed"],
    ];
    for (const [index, [sender, chat, text, end]] of rows.entries()) {
      say(sender, chat, text);
      expect((await ends(place, index + 1)).at(-1), `${sender} says ${text}`).toBe(end);
    }
    expect(place.messages(kitchen)[0]?.text).toBe(
      "You may not use /new in this group. Ask the owner of the bot to add your id, 1002.",
    );
    const [refused] = (await place.events())[0]?.decisions.filter(({ verdict }) => verdict === "refused") ?? [];
    expect(refused).toMatchObject({
      code: "command_sender_not_listed",
      path: `channels.botchat.groups.${kitchen}.allowFrom`,
      hint: `Add "1002" to channels.botchat.groups.${kitchen}.allowFrom.`,
    });
  });

  test("from an owner is accepted even if the list does not contain the owner", async () => {
    const place = await open({ owner: true });
    await place.start();
    place.platform.act.say(place.bela, kitchen, "/new@e2e_bot");
    expect(await ends(place, 1)).toEqual(["answered answered"]);
  });

  test("needs no mention if it is a control command by a listed sender or an owner; others do", async () => {
    const place = await open({ owner: true });
    await place.start();
    const rows: readonly (readonly [number, number, string, string])[] = [
      [place.ada, kitchen, "/status", "answered answered"],
      [place.ada, kitchen, "/stop", "answered answered"],
      [place.ada, kitchen, "/new", "silent mention_required"],
      [place.ada, kitchen, "hello", "silent mention_required"],
      [place.ada, workshop, "/status", "silent mention_required"],
      [place.bela, workshop, "/status", "answered answered"],
    ];
    for (const [index, [sender, chat, text, end]] of rows.entries()) {
      place.platform.act.say(sender, chat, text);
      expect((await ends(place, index + 1)).at(-1), `${sender} says ${text}`).toBe(end);
    }
  });
});

describe("a press in an open group", () => {
  test.each([
    ["allowlist", "bela", false, "refused press_sender_not_listed"],
    ["allowlist", "ada", false, "answered answered"],
    ["allowlist", "bela", true, "answered answered"],
    ["all", "bela", false, "answered answered"],
  ] as const)("with inlineButtons %s by %s (owner: %s) ends %s", async (inlineButtons, who, owner, end) => {
    const place = await open({ owner, channel: { capabilities: { inlineButtons } } });
    await place.start();
    place.platform.act.say(place.ada, kitchen, "@e2e_bot menu");
    await expect.poll(() => place.messages(kitchen).length).toBe(1);
    place.platform.act.press(place[who], kitchen, place.messages(kitchen)[0]?.message_id ?? 0, "tea");
    await expect.poll(() => place.notices().length).toBe(1);
    expect(place.notices()[0]?.text).toBe(end.startsWith("refused") ? "You may not use this here." : undefined);
    expect((await ends(place, 2))[1]).toBe(end);
  });
});
