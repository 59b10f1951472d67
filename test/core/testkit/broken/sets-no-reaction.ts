/** Sets no reaction that it did not set before. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ react }) => {
  const reacted = new Set<string>();
  return {
    async react(messageId, emoji, address) {
      if (emoji !== null && reacted.has(messageId)) return;
      reacted.add(messageId);
      await react(messageId, emoji, address);
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "reactions > a second reaction replaces the first",
  says: /changed its reaction/,
};
