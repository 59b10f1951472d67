/** Long absences, of the homeserver and of the gateway, and gaps of many pages. */
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../support/directory.ts";
import { open, openPlace } from "./room.ts";

/** Answers with nothing, and remembers what it has read. */
function listener() {
  const heard: string[] = [];
  const answer = ({ inbound }: { readonly inbound: { readonly text: string } }) => {
    heard.push(inbound.text);
    return "NO_REPLY";
  };
  return { heard, answer };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `number ${index}`);

test.each([
  ["fetched in pages back to the last known message", {}],
  ["fetched from a homeserver that ignores where to stop", { ignoresTo: true }],
])("a gap after an absence is %s, in order and once", async (_, options) => {
  const { server, room, ada, start } = await openPlace(options);
  const chat = room({ isDirect: true });
  for (const text of numbers(30)) ada.say(chat, `long ago, ${text}`);
  const { heard, answer } = listener();
  const host = await start(open, { answer });
  ada.say(chat, "before");
  await expect.poll(() => heard).toEqual(["before"]);
  await server.away();
  const texts = numbers(130);
  for (const text of texts) ada.say(chat, text);
  await server.back();
  await host.advance(10_000);
  await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(131);
  expect(heard.slice(1)).toEqual(texts);
  expect(server.calls.filter(({ path }) => path.endsWith("/messages")).length).toBeGreaterThan(1);
});

test.each([1, 30, 300])(
  "what people write while the homeserver is away for %i s arrives once, in order",
  async (seconds) => {
    const { server, room, ada, eve, start } = await openPlace();
    const [chat, group] = [room({ isDirect: true }), room({ name: "Bakery", invite: [eve.id] })];
    for (const id of [eve.id, server.world.users.keys().next().value ?? ""])
      server.world.setMembership(group, id, "join");
    const { heard, answer } = listener();
    const host = await start({ ...open, groups: { "*": { requireMention: false } } }, { answer });
    ada.say(chat, "before");
    await expect.poll(() => heard).toEqual(["before"]);
    await server.away();
    const texts = numbers(8);
    for (const [index, text] of texts.entries()) {
      ada.say(chat, text);
      if (index === 4) eve.say(group, "in the group");
      await host.advance((seconds * 1_000) / 8);
    }
    await server.back();
    await host.advance(61_000);
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(10);
    expect(heard.filter((text) => text.startsWith("number"))).toEqual(texts);
    expect(heard.filter((text) => text.includes("group"))).toHaveLength(1);
  },
);

test("what people write while the gateway is down arrives once, also in a room that is new to it", async () => {
  const { room, invite, ada, start } = await openPlace();
  const chat = room({ isDirect: true });
  const { heard, answer } = listener();
  const directory = temporaryDirectory();
  const host = await start(open, { answer, directory });
  ada.say(chat, "before");
  await expect.poll(() => heard).toEqual(["before"]);
  await host.close();
  const other = invite({ isDirect: true });
  for (const text of numbers(60)) ada.say(other, text);
  ada.say(chat, "after");
  await start(open, { answer, directory });
  await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(62);
  expect(heard.filter((text) => text.startsWith("number"))).toEqual(numbers(60));
  expect(heard.filter((text) => !text.startsWith("number"))).toEqual(["before", "after"]);
});
