/** Leaves a reaction that is to go. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ react }) => ({
  react: async (messageId, emoji, address) => (emoji === null ? undefined : await react(messageId, emoji, address)),
}));

export const broken: Broken = {
  channel,
  caughtBy: "reactions > null removes the reaction",
  says: /The reaction was removed, and/,
};
