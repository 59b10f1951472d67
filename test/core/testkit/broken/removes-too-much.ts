/** Removes the message before, too. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ remove }) => ({
  async remove(messageId, address, signal) {
    await remove(messageId, address, signal);
    await remove(String(Number(messageId) - 1), address, signal);
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "edits > remove deletes one message",
  says: /did not delete exactly its own message/,
};
