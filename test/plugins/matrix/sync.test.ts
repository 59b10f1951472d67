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
