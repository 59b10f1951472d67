/** Tries again at once what the platform refuses, and says that it was not sent. */
import { ChannelError } from "service-gateway/sdk/channel";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }) => ({
  send: ({ key: _key, ...part }, address, signal) =>
    send(part, address, signal).catch(async (error: unknown) => {
      if (error instanceof ChannelError && error.reason === "flood_wait") await send(part, address, signal);
      throw error;
    }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "recovery > an answer arrives once after a wait",
  says: /the reply arrived 2 times/,
};
