/** What a plugin does at the end of an event has happened when the test goes on. */
import { definePlugin } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";

test("the settled taps have run when say() resolves", async () => {
  const ended: string[] = [];
  const counting = definePlugin({
    id: "counting",
    version: "1.0.0",
    host: "*",
    setup(host) {
      host.tap("settled", ({ eventId }) => void ended.push(eventId));
    },
  });
  const host = await createTestHost({ plugins: [counting] });
  onTestFinished(() => host.close());
  for (let count = 1; count <= 500; count += 1) {
    const { eventId } = await host.say("Hello");
    expect(ended).toHaveLength(count);
    expect(ended.at(-1)).toBe(eventId);
  }
});
