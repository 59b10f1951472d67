/** Wants to try again to remove what is gone. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ remove }) => {
  const removed = new Set<string>();
  return {
    async remove(messageId, address, signal) {
      if (removed.has(messageId)) throw new ChannelError("message_gone", { retryable: true });
      removed.add(messageId);
      await remove(messageId, address, signal);
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "edits > remove accepts a message that is already deleted",
  says: /not retryable/,
};
