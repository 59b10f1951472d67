/** Refuses a message for a reason that nothing explains. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((error: ChannelError) => {
      throw error.retryable ? error : new ChannelError("letter_returned", { detail: error.message });
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > the reason of a refusal is registered",
  says: /has the reason "letter_returned", which is not registered/,
};
