/** Says of a block that the same call may succeed later. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((error: unknown) => {
      throw error instanceof ChannelError && error.reason === "blocked_by_user"
        ? new ChannelError(error.reason, { retryable: true, fate: error.fate })
        : error;
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > a permanent refusal is not retryable",
  says: /retries for a day/,
};
