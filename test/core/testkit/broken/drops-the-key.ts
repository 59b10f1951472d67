/** Sends without the key of the part once a send has failed. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => {
  let hasFailed = false;
  return {
    async send({ key, ...part }, address, signal) {
      try {
        return await send(hasFailed || key === undefined ? part : { ...part, key }, address, signal);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "repetition > a send repeated after a broken connection is one message",
  says: /Pass part\.key to the platform/,
};
