/** What the homeserver brings after an absence, in pieces, late, or again. */
import { expect, test } from "vitest";
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

test("a gap after an absence is fetched, in order and once", async () => {
  const { server, room, ada, start } = await openPlace();
  const chat = room({ isDirect: true });
  ada.say(chat, "long ago");
  const { heard, answer } = listener();
  const host = await start(open, { answer });
  ada.say(chat, "before");
  await expect.poll(() => heard).toEqual(["before"]);
  await server.away();
  const texts = numbers(52);
  for (const text of texts) ada.say(chat, text);
  await server.back();
  await host.advance(2_000);
  await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(53);
  expect(heard).toEqual(["before", ...texts]);
});

test("what was written before the first start, in rooms that the bot was in, is not answered", async () => {
  const { room, ada, start } = await openPlace();
  const chat = room({ isDirect: true });
  ada.say(chat, "long ago");
  const { heard, answer } = listener();
  await start(open, { answer });
  ada.say(chat, "now");
  await expect.poll(() => heard).toEqual(["now"]);
});

test("a limit of the rate is waited for, and a token that has ended is reported with what to do", async () => {
  const { server, room, ada, sees, start } = await openPlace();
  const chat = room({ isDirect: true });
  const host = await start();
  let refused = 0;
  server.fault = ({ path }) => {
    if (!path.includes("/send/") || refused > 0) return undefined;
    refused += 1;
    return { status: 429, body: { errcode: "M_LIMIT_EXCEEDED", error: "Too Many Requests", retry_after_ms: 700 } };
  };
  ada.say(chat, "Hello");
  await expect.poll(() => refused).toBe(1);
  await host.advance(1_000);
  await sees(chat, ["heard: Hello"]);
  server.fault = () => ({
    status: 401,
    body: { errcode: "M_UNKNOWN_TOKEN", error: "Token expired", soft_logout: true },
  });
  ada.say(chat, "Hello again");
  await expect
    .poll(async () => (await host.accounts()).find(({ channel }) => channel === "matrix"))
    .toMatchObject({ state: "failed", code: "unauthorized", hint: expect.stringContaining("same device_id") });
});
