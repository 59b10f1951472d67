/** Adds the chat command `/dice` and counts the throws of each chat. */
import { randomInt } from "node:crypto";
import { definePlugin, Type } from "service-gateway/sdk";

export default definePlugin({
  id: "dice",
  version: "1.0.0",
  // The versions of the plugin contract that this plugin works with.
  host: "^0.2.0",
  options: Type.Object({
    sides: Type.Integer({ minimum: 2, maximum: 1_000, default: 6, description: "Sides of the die." }),
  }),
  setup(host, { sides }) {
    host.command({
      name: "dice",
      summary: `Throws a die with ${sides} sides.`,
      role: "allowed",
      async run({ inbound }) {
        const throws = await host.store.update(
          `${inbound.channel}:${inbound.chat.id}`,
          (count) => Number(count ?? 0) + 1,
        );
        return `You threw ${randomInt(1, sides + 1)}. Throws in this chat: ${throws}`;
      },
    });
  },
});
