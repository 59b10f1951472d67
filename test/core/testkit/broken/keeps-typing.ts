/** Repeats a gesture after each message, and does not stop at close. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ send }, account) => ({
  async send(part, address, signal) {
    const receipt = await send(part, address, signal);
    setInterval(() => account.log.trace({}, "typing"), 60_000).unref();
    return receipt;
  },
}));

export const broken: Broken = { channel, caughtBy: "leftovers > none after a conversation", says: /1 timers remain/ };
