/** Logs the request that was refused, with the token in its address. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }, { log, options: { url, token } }) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((error: unknown) => {
      if (error instanceof ChannelError && error.reason === "blocked_by_user")
        log.warn({ url: `${url}?token=${token}` }, "refused");
      throw error;
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "secrets > none in the error of a refused send",
  says: /the error of a refused send/,
};
