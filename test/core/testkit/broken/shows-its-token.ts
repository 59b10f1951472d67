/** Puts the address of a failed request into the error, with the token in it. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }, { options: { url, token } }) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((cause: unknown) => {
      if (!(cause instanceof ChannelError) || cause.reason !== "network") throw cause;
      const { fate, retryable } = cause;
      throw new ChannelError("network", { retryable, fate, detail: `POST ${url}/messages?token=${token} failed` });
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "secrets > none in the log, a status or an error of an outage",
  says: /A secret of the options is in the log/,
};
