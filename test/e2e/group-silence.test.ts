/** The bot is silent in new groups, also for its owner by pairing, who reads why in the direct chat. */
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { onTestFinished } from "../support/own-test.ts";

test("an owner who addresses the bot in a group reads once, in the direct chat, why it is silent there", async () => {
  const host = await createTestHost({
    config: { channels: { loopback: { dmPolicy: "pairing", groupPolicy: "allowlist", groupAllowFrom: ["bela"] } } },
  });
  onTestFinished(() => host.close());
  const told = () => host.outbox().filter(({ text }) => text.startsWith("You wrote to me in"));
  const inGroup = { chat: "kitchen", group: true, mention: true } as const;
  expect(await host.say("hello", { from: "chen", ...inGroup })).toMatchObject({ reason: "group_sender_not_allowed" });
  expect(await host.say("hello", { from: "owner", ...inGroup })).toMatchObject({
    reason: "group_sender_not_allowed",
  });
  await expect.poll(told).toHaveLength(1);
  expect(told()[0]).toMatchObject({
    chat: "owner",
    text: expect.stringMatching(
      /^You wrote to me in the group kitchen, and I do not answer there\. An approval applies to direct chats only\. .* Add "owner" to channels\.loopback\.groupAllowFrom\.$/,
    ),
  });
  await host.say("are you there?", { from: "owner", ...inGroup });
  await host.say("hello", { from: "owner", chat: "attic", group: true, mention: true });
  await expect.poll(told).toHaveLength(2);
  expect(host.outbox().every(({ chat }) => chat === "owner")).toBe(true);
});
