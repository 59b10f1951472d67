/** Throws an error of its own for a reaction that fails. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ react }) => ({
  react: (messageId, emoji, address) =>
    react(messageId, emoji, address).catch((error: Error) => {
      throw new Error(error.message);
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "reactions > a reaction to a missing message fails with a ChannelError",
  says: /an error that is not a ChannelError/,
};
