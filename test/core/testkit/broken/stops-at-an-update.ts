/** Sends nothing more after an update. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => {
  let updated = false;
  return {
    update() {
      updated = true;
    },
    send: async (part, address, signal) => (updated ? { messageId: "none" } : await send(part, address, signal)),
  };
});

export const broken: Broken = { channel, caughtBy: "update > sending continues", says: /does not arrive/ };
