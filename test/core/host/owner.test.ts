/** What a plugin says to the owner reaches an owner, whoever wrote last. */
import { definePlugin, type PluginHost } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";

test("a notice for the owner never goes to a guest who wrote last, and without an owner it is not sent", async () => {
  let plugin: PluginHost | undefined;
  const watchman = definePlugin({
    id: "watchman",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      plugin = host;
    },
  });
  await using host = await createTestHost({ plugins: [watchman] });
  await host.say("hello", { from: "guest" });
  expect(await plugin?.notifyOwner("The door is open.")).toBe(true);
  await expect.poll(() => host.outbox().at(-1)).toMatchObject({ chat: "owner", text: "The door is open." });
  await host.configure({ commands: { ownerAllowFrom: [] } });
  expect(await plugin?.notifyOwner("The door is still open.")).toBe(false);
});
