/** Says of a part that was aborted before it began that it was sent. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: async (part, address, signal) => (signal.aborted ? { messageId: "none" } : await send(part, address, signal)),
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > an abort before the send has the right outcome",
  says: /nothing was sent, but send resolves/,
};
