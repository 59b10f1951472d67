/** Throws an error of its own when typing fails. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ typing }) => ({
  typing: (address) =>
    typing(address).catch((error: Error) => {
      throw new Error(error.message);
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "typing > fails with a ChannelError",
  says: /an error that is not a ChannelError/,
};
