/** Puts the address of a failed request into the error, with the token in it. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }, { options: { url, token } }) => ({
  send: (part, address, signal) =>
    send(part, address, signal).catch((cause: unknown) => {
      throw new ChannelError("network", { retryable: true, detail: `POST ${url}/messages?token=${token} failed`, cause });
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "send > no secret is in the log, a status or an error",
  says: /A secret of the options is in the log/,
};
