/**
 * More chats write at once than the gateway takes in: the rest waits at the platform, for a moment, and everybody is
 * answered.
 */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import botchat from "../../plugins/botchat/index.ts";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { answers, botToken, openChannel } from "./room.ts";

test("messages for a platform that does not answer do not block the others there", async () => {
  const people = Array.from({ length: 500 }, (_, index) => ({ id: 10_001 + index, first_name: `Person ${index}` }));
  const platform = await createPlatform({
    bots: [{ token: botToken, username: "e2e_bot", name: "E2E", privacy: true }],
    seed: { people, groups: [] },
  });
  onTestFinished(() => platform.close());
  // Nobody's answer arrives before the last message was taken in.
  platform.faults.add({ method: "sendMessage", kind: "delay", ms: 4_000, times: 64 });
  for (const { id } of people) platform.act.say(id, id, "hello");
  const config = {
    agents: { defaults: { maxConcurrent: 512 } },
    session: { dmScope: "per-account-channel-peer" },
    channels: { botchat: openChannel(platform, { streamMode: "off" }) },
  };
  const began = performance.now();
  const host = await createTestHost({ config, plugins: [botchat], answer: () => "hello yourself" });
  onTestFinished(() => host.close());
  await expect.poll(() => platform.pending(), { interval: 10 }).toBe(0);
  // A hundred at once; the four hundred after them by twenty-five, each after a tenth of a second.
  expect(performance.now() - began).toBeGreaterThan(1_500);
  await expect.poll(() => people.filter(({ id }) => answers(platform, id).length === 1).length).toBe(500);
});
