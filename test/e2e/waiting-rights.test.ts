/**
 * A message that waits is judged when its turn begins, by the rules of that moment and with the authority that it came
 * with.
 */
import { expect, test } from "vitest";
import { createTestHost } from "../../core/testkit/index.ts";

test("a sender removed from the list while a message waits gets no turn", async () => {
  const asked: string[] = [];
  let release = () => {};
  await using host = await createTestHost({
    config: {
      channels: { loopback: { dmPolicy: "allowlist", allowFrom: ["7", "8"] } },
      agents: { defaults: { maxConcurrent: 1 } },
    },
    answer: ({ inbound }) => {
      asked.push(inbound.text);
      if (inbound.text !== "holds the only place") return "done";
      return new Promise<string>((resolve) => {
        release = () => resolve("done");
      });
    },
  });
  const first = host.say("holds the only place", { from: "8" });
  await expect.poll(() => asked.length).toBe(1);
  const second = host.say("waits", { from: "7" });
  await host.configure({ channels: { loopback: { dmPolicy: "allowlist", allowFrom: ["8"] } } });
  release();
  expect((await first).outcome).toBe("answered");
  const { outcome } = await second;
  const third = await host.say("afterwards", { from: "7" });
  expect(third.outcome).toBe("refused");
  expect([outcome, asked]).toEqual(["refused", ["holds the only place"]]);
});
