import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Part } from "service-gateway/sdk/channel";
import { expect, test } from "vitest";
import { ada, callsOf, direct, forum, messageIn, never, reply, start } from "./platform.ts";

const buttons = [[{ text: "Yes", value: "yes" }]];
const shown = [[{ text: "Yes", callback_data: "yes" }]];
const changed = (part: Part | undefined, messageId: string): Part => ({
  ...(part as Part),
  replaces: messageId,
  inPlace: true,
});

test("an edited message keeps its buttons until it gets others or none", async () => {
  const { platform, connection } = await start();
  platform.act.say(ada, ada, "hello");
  const [first] = connection.render(reply("Tea?", { buttons }), direct);
  const { messageId } = await connection.send(first as Part, direct, never);
  const edit = async (text: string, more: Parameters<typeof reply>[1] = {}) => {
    const [part] = connection.render(reply(text, { replaces: messageId, ...more }), direct);
    await connection.send(changed(part, messageId), direct, never);
    const message = messageIn(platform, messageId);
    return {
      text: message?.text,
      rows: (message?.reply_markup as { inline_keyboard?: unknown } | undefined)?.inline_keyboard,
    };
  };
  expect(await edit("Coffee?")).toEqual({ text: "Coffee?", rows: shown });
  const others = [[{ text: "No", callback_data: "no" }]];
  expect(await edit("Milk?", { buttons: [[{ text: "No", value: "no" }]] })).toEqual({ text: "Milk?", rows: others });
  expect(await edit("Sugar?")).toEqual({ text: "Sugar?", rows: others });
  expect((await edit("Nothing.", { buttons: [[]] })).rows ?? []).toEqual([]);
  expect((await edit("Really nothing.")).rows ?? []).toEqual([]);
});

test("the caption of a file can be edited; an edit of a deleted message fails and sends nothing new", async () => {
  const { platform, account, connection } = await start();
  platform.act.say(ada, ada, "hello");
  const path = join(account.account.directory, "list.txt");
  writeFileSync(path, "bread");
  const [file] = connection.render(reply("before", { media: [{ path }], buttons }), direct);
  const { messageId } = await connection.send(file as Part, direct, never);
  const [text] = connection.render(reply("**after**"), direct);
  expect(await connection.send(changed(text, messageId), direct, never)).toEqual({ messageId });
  expect(messageIn(platform, messageId)).toMatchObject({ caption: "after", reply_markup: { inline_keyboard: shown } });
  await expect(connection.send(changed(text, "4711"), direct, never)).rejects.toMatchObject({
    reason: "message_gone",
    retryable: false,
  });
  expect(callsOf(platform, "sendMessage")).toEqual([]);
});

test.each([
  ["off", String(ada), false],
  ["off", String(forum), false],
  ["dm", String(ada), true],
  ["dm", String(forum), false],
  ["group", String(ada), false],
  ["group", String(forum), true],
  ["all", String(forum), true],
  ["allowlist", String(forum), true],
] as const)("inlineButtons %s: an answer in %s has buttons: %s", async (inlineButtons, chat, has) => {
  const { connection } = await start({ capabilities: { inlineButtons } });
  const [part] = connection.render(reply("Tea?", { buttons }), { ...direct, chat });
  expect(JSON.stringify(part?.body).includes("inline_keyboard")).toBe(has);
  expect(part?.omitted ?? []).toEqual(has ? [] : [`the buttons: capabilities.inlineButtons is "${inlineButtons}"`]);
});
