/** Gives the receipt of a repeated send an id of its own. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => {
  let sends = 0;
  return {
    async send(part, address, signal) {
      sends += 1;
      const receipt = await send(part, address, signal);
      return part.key === undefined ? receipt : { messageId: `${receipt.messageId}0${sends}` };
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "repetition > the same key twice is one message",
  says: /Return the id of the message that is there/,
};
