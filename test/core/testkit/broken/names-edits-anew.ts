/** Gives an edited message another id. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  async send(part, address, signal) {
    const receipt = await send(part, address, signal);
    return part.replaces === undefined ? receipt : { messageId: `${receipt.messageId}-edited` };
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "edits > a part with replaces changes its message",
  says: /Return the id of the message/,
};
