/** Hands on the seconds that the platform asks for as milliseconds. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  async send(part, address, signal) {
    try {
      return await send(part, address, signal);
    } catch (error) {
      if (error instanceof ChannelError && error.retryAfterMs !== undefined)
        throw new ChannelError(error.reason, { retryable: true, retryAfterMs: error.retryAfterMs / 1_000 });
      throw error;
    }
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > the platform's wait is reported",
  says: /retryAfterMs is 2\./,
};
