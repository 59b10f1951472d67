/** Sends nothing more once a send has failed for an outage. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => {
  let error: unknown;
  return {
    async send(part, address, signal) {
      if (error !== undefined) throw error;
      try {
        return await send(part, address, signal);
      } catch (thrown) {
        if (thrown instanceof ChannelError && thrown.reason === "network" && thrown.fate === "not-sent") error = thrown;
        throw thrown;
      }
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "recovery > an answer arrives once after an outage",
  says: /did not arrive after the outage/,
};
