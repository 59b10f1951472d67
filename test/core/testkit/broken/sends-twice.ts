/** Says of every broken connection that nothing was sent. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  async send(part, address, signal) {
    try {
      return await send(part, address, signal);
    } catch (error) {
      if (!(error instanceof ChannelError) || error.fate === "not-sent" || signal.aborted) throw error;
      throw new ChannelError("network", { retryable: true, fate: "not-sent" });
    }
  },
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > a broken connection has an unknown outcome",
  says: /it would be sent a second time/,
};
