/** Says of an aborted send that nothing was sent. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((error: unknown) => {
      throw signal.aborted ? new ChannelError("aborted", { retryable: true }) : error;
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > an abort during the send has an unknown outcome",
  says: /The platform may have accepted it/,
};
